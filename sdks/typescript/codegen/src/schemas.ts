import { type Document, isObject, member } from "./document.ts";

const REFERENCE = "#/components/schemas/";

/** The schema names that a TypeScript module uses as `Schemas["Name"]`. */
export function schemasUsedBy(source: string): readonly string[] {
  return [...new Set([...source.matchAll(/\bSchemas\["(\w+)"\]/g)].map(([, name]) => name ?? ""))];
}

/** An OpenAPI document without paths that has only these schemas and those that they refer to. */
export function withSchemas(document: Document, roots: readonly string[]): Document {
  const all = member(document, "components", "schemas");
  const names = [...reachableSchemas(all, roots)].sort();
  const schemas = Object.fromEntries(names.map((name) => [name, all[name]]));
  return { ...document, paths: {}, components: { schemas } };
}

/** The names of the schemas that only the matching paths refer to, directly or through another schema. */
export function schemasUsedOnlyBy(
  document: Document,
  matches: (path: string) => boolean,
): ReadonlySet<string> {
  const all = member(document, "components", "schemas");
  const paths = Object.entries(member(document, "paths"));
  const rootsOf = (wanted: boolean) =>
    paths.filter(([path]) => matches(path) === wanted).flatMap(([, operations]) => referencesIn(operations));
  const matching = reachableSchemas(all, rootsOf(true));
  // Frames of streams are in no path.
  const others = Object.keys(all).filter((name) => !matching.has(name));
  const usedElsewhere = reachableSchemas(all, [...rootsOf(false), ...others]);
  return new Set([...matching].filter((name) => !usedElsewhere.has(name)));
}

function reachableSchemas(all: Document, roots: readonly string[]): Set<string> {
  const names = new Set(roots);
  // A `Set` also iterates over what is added during the loop, so this visits references of references.
  for (const name of names) {
    const schema = all[name];
    if (schema === undefined) throw new Error(`the OpenAPI documents have no schema \`${name}\``);
    for (const reference of referencesIn(schema)) names.add(reference);
  }
  return names;
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, child]) =>
    name === "$ref" && typeof child === "string" ? [child.replace(REFERENCE, "")] : referencesIn(child),
  );
}
