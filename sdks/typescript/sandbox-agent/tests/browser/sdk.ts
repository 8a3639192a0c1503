import type * as client from "@tombolo/sandbox-agent";
import type * as indexeddb from "@tombolo/sandbox-agent/indexeddb";

declare global {
  /** The global `sdk` of the page, for functions that the page evaluates. */
  const sdk: typeof client & typeof indexeddb;
}
