import { type Document, isNewerVariant, isObject, member } from "./document.ts";
import { schemasUsedOnlyBy } from "./schemas.ts";

/** Paths of the ACP transport, which the client hides. */
const isHidden = (path: string): boolean => path.startsWith("/v1/acp");

/**
 * A TypeScript module that exports an alias of `Schemas["Name"]` for each schema of the OpenAPI document that is worth a
 * name. These have none:
 *
 * - a string without an enumeration, such as an id,
 * - a variant of a union, which code reaches by narrowing the union,
 * - a schema that only hidden paths use,
 * - a schema in `taken`.
 */
export function generateAliases(document: Document, taken: ReadonlySet<string>): string {
  const schemas = member(document, "components", "schemas");
  const hidden = schemasUsedOnlyBy(document, isHidden);
  const aliases = Object.entries(schemas as Readonly<Record<string, Document>>)
    .filter(([name, schema]) => !isPlainString(schema) && !isVariant(name, schemas))
    .filter(([name]) => !hidden.has(name) && !taken.has(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => `${comment(schema)}export type ${name} = Schemas["${name}"];\n`);
  return `/** Generated from the OpenAPI documents by \`cargo xtask codegen\`. */
import type { Schemas } from "../types/schema.js";

${aliases.join("")}`;
}

/**
 * The names that the modules of a package must have for themselves: those of their own exports, and those of schemas that
 * they export by another name.
 */
export function takenNames(sources: readonly string[]): ReadonlySet<string> {
  const declarations = /^export (?:abstract )?(?:type|interface|class|function|const) (\w+)/gm;
  const renamed = /^export type \w+ = Schemas\["(\w+)"\]/gm;
  const matches = sources.flatMap((source) => [
    ...source.matchAll(declarations),
    ...source.matchAll(renamed),
  ]);
  return new Set(matches.map(([, name]) => name ?? ""));
}

function isPlainString(schema: Document): boolean {
  return schema.type === "string" && !("enum" in schema);
}

/** Whether a schema is one choice of a union that it is named after, such as `McpServerLocal`. */
function isVariant(name: string, schemas: Document): boolean {
  if (isNewerVariant(name)) return true;
  return Object.entries(schemas).some(
    ([union, schema]) => name !== union && name.startsWith(union) && choices(schema).includes(name),
  );
}

function choices(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  const all = [schema.oneOf, schema.anyOf].filter(Array.isArray).flat();
  return all.filter(isObject).map((choice) => String(choice.$ref).replace(/^.*\//, ""));
}

/** The first sentence of a schema's description, as a comment. */
function comment({ description }: Document): string {
  if (typeof description !== "string") return "";
  const [paragraph = ""] = description.split("\n\n");
  const [sentence] = /^.*?\.(?=\s|$)/.exec(paragraph.replaceAll("\n", " ")) ?? [paragraph];
  return `/** ${sentence.replaceAll("*/", "*\\/")} */\n`;
}
