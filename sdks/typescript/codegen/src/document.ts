import { isDeepStrictEqual } from "node:util";

/** A JSON object: a document, or a part of one. */
export interface Document {
  readonly [member: string]: unknown;
}

/** Joins two OpenAPI documents. Paths and schemas that both define must be equal. */
export function mergeDocuments(one: Document, other: Document): Document {
  return normalize({
    ...one,
    // Daemon and hub describe their metrics differently.
    paths: union(member(one, "paths"), member(other, "paths"), "path", (path) => path === "/metrics"),
    components: {
      schemas: union(member(one, "components", "schemas"), member(other, "components", "schemas"), "schema"),
    },
  });
}

/**
 * Turns the relay's JSON Schema into an OpenAPI document without paths, so that the same generator writes its types.
 * Its table of methods becomes the schema `Methods`.
 */
export function relayDocument(schema: Document): Document {
  const methods = Object.entries(member(schema, "methods")).map(([name, descriptor]) => {
    const { asked_by, access, params, result } = descriptor as Document;
    const properties = { asked_by: { const: asked_by }, access: { const: access }, params, result };
    return [name, { type: "object", properties, required: Object.keys(properties) }] as const;
  });
  const table = {
    description: "Every method: which side may call it, its access level, its params and its result.",
    type: "object",
    properties: Object.fromEntries(methods),
    required: methods.map(([name]) => name),
  };
  const document = {
    openapi: "3.1.0",
    info: { title: "relay", version: "1" },
    paths: {},
    components: { schemas: { ...member(schema, "$defs"), Methods: table } },
  };
  return normalize(document, (name, value) =>
    name === "$ref" && typeof value === "string" ? value.replace("#/$defs/", "#/components/schemas/") : value,
  );
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object at this path of a document. */
export function member(document: Document, ...names: readonly string[]): Document {
  return names.reduce((found, name) => found[name] as Document, document);
}

/** Rewrites constructs that openapi-typescript translates wrongly, after passing each value through `transform`. */
function normalize(
  document: Document,
  transform: (name: string, value: unknown) => unknown = (_, value) => value,
): Document {
  return JSON.parse(JSON.stringify(document), (name, original) => {
    const value = transform(name, original);
    if (name === "anyOf" && Array.isArray(value)) return value.filter((choice) => !isCatchAll(choice));
    return isObject(value) ? conjoin(value) : value;
  });
}

/** Whether a schema stands for the variants of newer servers. */
export function isNewerVariant(name: string): boolean {
  return name.endsWith("Unknown");
}

/**
 * Whether a choice of a union accepts any object, which is how the schemas allow variants of newer servers. In a
 * TypeScript union such a choice would make it impossible to narrow the other choices by key.
 */
function isCatchAll(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  if (typeof choice.$ref === "string") return isNewerVariant(choice.$ref);
  return choice.additionalProperties === true && !("properties" in choice);
}

/**
 * In JSON Schema, properties beside a `$ref` or a union apply as well. openapi-typescript would drop them, or make them
 * one more choice of the union; an explicit `allOf` keeps them.
 */
function conjoin(schema: Document): Document {
  const { $ref, anyOf, oneOf, ...rest } = schema;
  const others = Object.entries({ $ref, anyOf, oneOf }).filter(([, other]) => other !== undefined);
  if (others.length === 0 || !("properties" in rest)) return schema;
  return { allOf: [rest, ...others.map((other) => Object.fromEntries([other]))] };
}

function union(one: Document, other: Document, kind: string, mayDiffer = (_: string) => false): Document {
  for (const [name, value] of Object.entries(other)) {
    if (name in one && !mayDiffer(name) && !isDeepStrictEqual(one[name], value)) {
      throw new Error(`the ${kind} ${name} differs between the two OpenAPI documents`);
    }
  }
  return { ...other, ...one };
}
