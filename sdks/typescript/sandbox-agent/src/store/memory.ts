import type { SessionStore, StoredSession } from "./store.js";

/** Keeps sessions as long as the program runs. */
export class MemoryStore implements SessionStore {
  /** As JSON, as every other store has it: what is kept cannot be changed from outside. */
  readonly #sessions = new Map<string, string>();

  async get(sessionId: string): Promise<StoredSession | undefined> {
    const kept = this.#sessions.get(sessionId);
    return kept === undefined ? undefined : JSON.parse(kept);
  }

  async list(): Promise<readonly StoredSession[]> {
    const all = [...this.#sessions.values()].map((kept): StoredSession => JSON.parse(kept));
    return all.sort((one, other) => one.createdAt.localeCompare(other.createdAt));
  }

  async put(session: StoredSession): Promise<void> {
    this.#sessions.set(session.sessionId, JSON.stringify(session));
  }

  async delete(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
  }
}
