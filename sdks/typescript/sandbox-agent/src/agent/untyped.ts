/** A JSON object whose members are not checked yet. */
export type UntypedObject = Readonly<Record<string, unknown>>;

/** The value as an object; an empty one if it is none. */
export function asObject(value: unknown): UntypedObject {
  return typeof value === "object" && value !== null ? (value as UntypedObject) : {};
}

export function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value as a list; an empty one if it is none. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
