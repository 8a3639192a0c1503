import type * as client from "sandbox-agent";
import type * as indexeddb from "sandbox-agent/indexeddb";

declare global {
  /** What the page has. It is there only in functions that the page evaluates. */
  const sdk: typeof client & typeof indexeddb;
}
