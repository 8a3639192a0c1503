import { type Document, isObject, member } from "./document.ts";

const REFERENCE = "#/components/schemas/";

/** The schema names that a TypeScript module uses as `Schemas["Name"]`. */
export function schemasUsedBy(source: string): readonly string[] {
  return [...new Set([...source.matchAll(/\bSchemas\["(\w+)"\]/g)].map(([, name]) => name ?? ""))];
}

/** An OpenAPI document without paths that has only these schemas and those that they refer to. */
export function withSchemas(document: Document, roots: readonly string[]): Document {
  const all = member(document, "components", "schemas");
  const names = new Set(roots);
  // A `Set` also iterates over what is added during the loop, so this visits references of references.
  for (const name of names) {
    const schema = all[name];
    if (schema === undefined) throw new Error(`the OpenAPI documents have no schema \`${name}\``);
    for (const reference of referencesIn(schema)) names.add(reference);
  }
  const schemas = Object.fromEntries([...names].sort().map((name) => [name, all[name]]));
  return { ...document, paths: {}, components: { schemas } };
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    name === "$ref" && typeof child === "string" ? [child.replace(REFERENCE, "")] : referencesIn(child),
  );
}
