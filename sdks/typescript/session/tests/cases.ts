import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSnapshot, Told } from "@tombolo/session";

/** An example of what a session comes to, as the Rust fold says: `fixtures/session`. */
export interface Case {
  readonly about: string;
  readonly start: SessionSnapshot;
  readonly events: readonly Told[];
  readonly states: readonly { readonly after: number; readonly snapshot: SessionSnapshot }[];
}

const directory = join(import.meta.dirname, "../../../../fixtures/session");

/** All examples, by name. */
export const cases: readonly (readonly [name: string, Case])[] = readdirSync(directory)
  .filter((file) => file.endsWith(".json"))
  .map((file) => [file, JSON.parse(readFileSync(join(directory, file), "utf8")) as Case] as const);

/** What must not be changed by anybody. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
