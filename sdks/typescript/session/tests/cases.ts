import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionSnapshot, TimedEvent } from "@tombolo/session";

/** A test case of `fixtures/session`: events, and the snapshots that the Rust implementation makes of them. */
export interface Case {
  readonly about: string;
  readonly start: SessionSnapshot;
  readonly events: readonly TimedEvent[];
  readonly states: readonly { readonly after: number; readonly snapshot: SessionSnapshot }[];
}

const directory = join(import.meta.dirname, "../../../../fixtures/session");

/** All test cases, by file name. */
export const cases: readonly (readonly [name: string, Case])[] = readdirSync(directory)
  .filter((file) => file.endsWith(".json"))
  .map((file) => [file, JSON.parse(readFileSync(join(directory, file), "utf8")) as Case] as const);

/** Freezes a value deeply, so that changing it in place throws. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
