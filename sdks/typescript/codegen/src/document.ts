import { isDeepStrictEqual } from "node:util";

/** A JSON document, or a part of one. */
export interface Document {
  readonly [member: string]: unknown;
}

/** Two OpenAPI documents as one. What both name must be the same in both. */
export function merged(one: Document, other: Document): Document {
  return revised({
    ...one,
    paths: union(part(one, "paths"), part(other, "paths"), "path", (path) => path === "/metrics"),
    components: {
      schemas: union(part(one, "components", "schemas"), part(other, "components", "schemas"), "schema"),
    },
  });
}

/**
 * A JSON Schema with its definitions and its table of methods, as an OpenAPI document without paths: so there
 * is one maker of types. `Methods` in it is the table.
 */
export function protocolOf(schema: Document): Document {
  const methods = Object.entries(part(schema, "methods")).map(([name, about]) => {
    const { asked_by, access, params, result } = about as Document;
    const properties = { asked_by: { const: asked_by }, access: { const: access }, params, result };
    return [name, { type: "object", properties, required: Object.keys(properties) }] as const;
  });
  const table = {
    description: "What can be asked, by whom, with which params and result.",
    type: "object",
    properties: Object.fromEntries(methods),
    required: methods.map(([name]) => name),
  };
  const document = {
    openapi: "3.1.0",
    info: { title: "relay", version: "1" },
    paths: {},
    components: { schemas: { ...part(schema, "$defs"), Methods: table } },
  };
  return revised(document, (name, value) =>
    name === "$ref" && typeof value === "string" ? value.replace("#/$defs/", "#/components/schemas/") : value,
  );
}

/** The document, with each value as `revise` has it, and as the maker of types must have it. */
function revised(
  document: Document,
  revise: (name: string, value: unknown) => unknown = (_, value) => value,
): Document {
  return JSON.parse(JSON.stringify(document), (name, found) => {
    const value = revise(name, found);
    if (name === "anyOf" && Array.isArray(value)) return value.filter((choice) => !isOpen(choice));
    return isObject(value) ? conjoined(value) : value;
  });
}

/**
 * Whether a choice is any object: what a newer peer may say. With it in a union, no other choice could be told
 * by its key.
 */
function isOpen(choice: unknown): boolean {
  return isObject(choice) && choice.additionalProperties === true && !("properties" in choice);
}

/**
 * The properties that a schema has besides a reference or a choice hold too, as JSON Schema says; the maker of
 * types would drop them, or make them one more choice.
 */
function conjoined(schema: Document): Document {
  const { $ref, anyOf, oneOf, ...rest } = schema;
  const others = Object.entries({ $ref, anyOf, oneOf }).filter(([, other]) => other !== undefined);
  if (others.length === 0 || !("properties" in rest)) return schema;
  return { allOf: [rest, ...others.map((other) => Object.fromEntries([other]))] };
}

function isObject(value: unknown): value is Document {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function union(one: Document, other: Document, what: string, mayDiffer = (_: string) => false): Document {
  for (const [name, value] of Object.entries(other)) {
    if (name in one && !mayDiffer(name) && !isDeepStrictEqual(one[name], value)) {
      throw new Error(`the ${what} ${name} is not the same in both documents`);
    }
  }
  return { ...other, ...one };
}

function part(document: Document, ...names: readonly string[]): Document {
  return names.reduce((found, name) => found[name] as Document, document);
}
