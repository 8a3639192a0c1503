import type * as client from "@tombolo/sandbox-agent";
import type * as indexeddb from "@tombolo/sandbox-agent/indexeddb";

declare global {
  /** What the page has. It is there only in functions that the page evaluates. */
  const sdk: typeof client & typeof indexeddb;
}
