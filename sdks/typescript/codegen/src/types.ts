import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import type { Document } from "./document.ts";

/** The types of an OpenAPI document, as a module. */
export async function typesOf(document: Document): Promise<string> {
  const ast = await openapiTS(JSON.stringify(document), {
    // What has a default may be left out of a request.
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
    immutable: true,
  });
  return `${COMMENT_HEADER}${astToString(ast)}`;
}
