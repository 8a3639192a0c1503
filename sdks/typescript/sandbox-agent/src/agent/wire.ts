/** What came over the wire, of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** The members of a value; none if it has none. */
export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

/** The value if it is text. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The value if it is a list; otherwise an empty one. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
