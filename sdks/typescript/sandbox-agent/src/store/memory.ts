import type { SessionStore, StoredSession } from "./store.js";

/** Stores sessions in memory. */
export class MemoryStore implements SessionStore {
  /** JSON by session id. As in the other stores, callers cannot change a stored session through an object they hold. */
  readonly #sessions = new Map<string, string>();

  async get(sessionId: string): Promise<StoredSession | undefined> {
    const json = this.#sessions.get(sessionId);
    return json === undefined ? undefined : JSON.parse(json);
  }

  async list(): Promise<readonly StoredSession[]> {
    const all = [...this.#sessions.values()].map((json): StoredSession => JSON.parse(json));
    return all.sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  }

  async put(session: StoredSession): Promise<void> {
    this.#sessions.set(session.sessionId, JSON.stringify(session));
  }

  async delete(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
  }
}
