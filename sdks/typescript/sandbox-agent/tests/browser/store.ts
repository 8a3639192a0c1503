import type { SessionStore } from "@tombolo/sandbox-agent";
import type { Page } from "playwright-core";
import "./sdk.js";

/** Access to the IndexedDB store of a page from outside. Each call creates a store with the same content. */
export function storeIn(page: Page): SessionStore {
  return {
    get: (sessionId) => page.evaluate((id) => new sdk.IndexedDbStore().get(id), sessionId),
    put: (session) => page.evaluate((kept) => new sdk.IndexedDbStore().put(kept), session),
    delete: (sessionId) => page.evaluate((id) => new sdk.IndexedDbStore().delete(id), sessionId),
    list: () => page.evaluate(() => new sdk.IndexedDbStore().list()),
  };
}
