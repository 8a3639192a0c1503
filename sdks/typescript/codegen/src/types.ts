import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import type { Document } from "./document.ts";

/** A TypeScript module with the types of an OpenAPI document. */
export async function generateTypes(document: Document): Promise<string> {
  const ast = await openapiTS(JSON.stringify(document), {
    // By default a property with a default value is required, but a request may omit it.
    defaultNonNullable: false,
    emptyObjectsUnknown: true,
    immutable: true,
  });
  return `${COMMENT_HEADER}${astToString(ast)}`;
}
