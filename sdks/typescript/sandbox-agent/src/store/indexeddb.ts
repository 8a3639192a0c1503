import type { SessionStore, StoredSession } from "./store.js";

const SESSIONS = "sessions";

/** Keeps sessions in a database of a browser. */
export class IndexedDbStore implements SessionStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;

  /** Which database; `sandbox-agent` if left out. */
  constructor(name = "sandbox-agent") {
    this.#name = name;
  }

  async get(sessionId: string): Promise<StoredSession | undefined> {
    return this.#ask("readonly", (sessions) => sessions.get(sessionId));
  }

  async list(): Promise<readonly StoredSession[]> {
    return this.#ask("readonly", (sessions) => sessions.index("createdAt").getAll());
  }

  async put(session: StoredSession): Promise<void> {
    // As JSON has it: what cannot be kept elsewhere is not kept here either.
    const kept = JSON.parse(JSON.stringify(session));
    await this.#ask("readwrite", (sessions) => sessions.put(kept));
  }

  async delete(sessionId: string): Promise<void> {
    await this.#ask("readwrite", (sessions) => sessions.delete(sessionId));
  }

  /** Closes the database, until it is needed again. */
  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    (await database)?.close();
  }

  async #ask<T>(mode: IDBTransactionMode, ask: (sessions: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    this.#database ??= this.#open();
    const transaction = (await this.#database).transaction(SESSIONS, mode);
    const request = ask(transaction.objectStore(SESSIONS));
    // A write holds once its transaction is complete, not before.
    await new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    return request.result;
  }

  #open(): Promise<IDBDatabase> {
    const opened = new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open(this.#name, 1);
      request.onupgradeneeded = () => {
        const sessions = request.result.createObjectStore(SESSIONS, { keyPath: "sessionId" });
        sessions.createIndex("createdAt", "createdAt");
      };
      request.onsuccess = () => {
        // Another page wants a newer version, or the database is deleted: who holds on would block that.
        request.result.onversionchange = () => void this.close();
        resolve(request.result);
      };
      request.onerror = () => reject(request.error);
    });
    opened.catch(() => {
      this.#database = undefined;
    });
    return opened;
  }
}
