import type { SessionStore, StoredSession } from "./store.js";

/** A prepared statement of `node:sqlite`, `bun:sqlite` or `better-sqlite3`. */
export interface SqliteStatement {
  run(...values: (string | null)[]): unknown;
  get(...values: (string | null)[]): unknown;
  all(...values: (string | null)[]): unknown[];
}

/** An open database of `node:sqlite`, `bun:sqlite` or `better-sqlite3`. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

const TABLE = `CREATE TABLE IF NOT EXISTS sandbox_agent_sessions (
  session_id TEXT PRIMARY KEY,
  created_at TEXT NOT NULL,
  session TEXT NOT NULL
) STRICT`;

/** Stores sessions in the table `sandbox_agent_sessions` of an SQLite database. It does not close the database. */
export class SqliteStore implements SessionStore {
  readonly #get: SqliteStatement;
  readonly #list: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #delete: SqliteStatement;

  constructor(database: SqliteDatabase) {
    database.exec(TABLE);
    this.#get = database.prepare("SELECT session FROM sandbox_agent_sessions WHERE session_id = ?");
    this.#list = database.prepare(
      "SELECT session FROM sandbox_agent_sessions ORDER BY created_at, session_id",
    );
    this.#put = database.prepare("INSERT OR REPLACE INTO sandbox_agent_sessions VALUES (?, ?, ?)");
    this.#delete = database.prepare("DELETE FROM sandbox_agent_sessions WHERE session_id = ?");
  }

  async get(sessionId: string): Promise<StoredSession | undefined> {
    const row = this.#get.get(sessionId) as { session: string } | undefined | null;
    return row == null ? undefined : JSON.parse(row.session);
  }

  async list(): Promise<readonly StoredSession[]> {
    return this.#list.all().map((row) => JSON.parse((row as { session: string }).session));
  }

  async put(session: StoredSession): Promise<void> {
    this.#put.run(session.sessionId, session.createdAt, JSON.stringify(session));
  }

  async delete(sessionId: string): Promise<void> {
    this.#delete.run(sessionId);
  }
}
