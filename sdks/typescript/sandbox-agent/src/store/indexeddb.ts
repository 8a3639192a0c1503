import type { SessionStore, StoredSession } from "./store.js";

const SESSIONS = "sessions";

/** Stores sessions in an IndexedDB database of a browser. */
export class IndexedDbStore implements SessionStore {
  readonly #name: string;
  #database: Promise<IDBDatabase> | undefined;

  /** `name` is the name of the database. */
  constructor(name = "sandbox-agent") {
    this.#name = name;
  }

  async get(sessionId: string): Promise<StoredSession | undefined> {
    return this.#run("readonly", (sessions) => sessions.get(sessionId));
  }

  async list(): Promise<readonly StoredSession[]> {
    return this.#run("readonly", (sessions) => sessions.index("createdAt").getAll());
  }

  async put(session: StoredSession): Promise<void> {
    // IndexedDB could store more than JSON can; the stores must behave alike.
    const json = JSON.parse(JSON.stringify(session));
    await this.#run("readwrite", (sessions) => sessions.put(json));
  }

  async delete(sessionId: string): Promise<void> {
    await this.#run("readwrite", (sessions) => sessions.delete(sessionId));
  }

  /** Closes the database. The next call opens it again. */
  async close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    (await database)?.close();
  }

  async #run<T>(mode: IDBTransactionMode, start: (sessions: IDBObjectStore) => IDBRequest<T>): Promise<T> {
    this.#database ??= this.#open();
    const transaction = (await this.#database).transaction(SESSIONS, mode);
    const request = start(transaction.objectStore(SESSIONS));
    // A write is durable only once its transaction is complete.
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
        // Another page upgrades or deletes the database, and an open connection would block it.
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
