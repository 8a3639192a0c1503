import type { SessionStore, StoredSession } from "./store.js";

/** A pool or client of `pg`. */
export interface Queryable {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

const TABLE = `CREATE TABLE IF NOT EXISTS sandbox_agent_sessions (
  session_id text PRIMARY KEY,
  created_at text NOT NULL,
  session text NOT NULL
)`;

/** Stores sessions in the table `sandbox_agent_sessions` of a Postgres database. It does not close the pool. */
export class PostgresStore implements SessionStore {
  readonly #database: Queryable;
  #tableCreated: Promise<unknown> | undefined;

  constructor(database: Queryable) {
    this.#database = database;
  }

  async get(sessionId: string): Promise<StoredSession | undefined> {
    const sql = "SELECT session FROM sandbox_agent_sessions WHERE session_id = $1";
    return (await this.#sessions(sql, [sessionId]))[0];
  }

  list(): Promise<readonly StoredSession[]> {
    return this.#sessions(
      'SELECT session FROM sandbox_agent_sessions ORDER BY created_at COLLATE "C", session_id',
      [],
    );
  }

  async put(session: StoredSession): Promise<void> {
    const sql = `INSERT INTO sandbox_agent_sessions VALUES ($1, $2, $3)
      ON CONFLICT (session_id) DO UPDATE SET created_at = excluded.created_at, session = excluded.session`;
    await this.#query(sql, [session.sessionId, session.createdAt, JSON.stringify(session)]);
  }

  async delete(sessionId: string): Promise<void> {
    await this.#query("DELETE FROM sandbox_agent_sessions WHERE session_id = $1", [sessionId]);
  }

  async #sessions(sql: string, values: unknown[]): Promise<StoredSession[]> {
    const { rows } = await this.#query(sql, values);
    return rows.map((row) => JSON.parse((row as { session: string }).session));
  }

  async #query(sql: string, values: unknown[]): Promise<{ readonly rows: readonly unknown[] }> {
    this.#tableCreated ??= this.#createTable();
    await this.#tableCreated;
    return this.#database.query(sql, values);
  }

  /**
   * Creates the table. `IF NOT EXISTS` is not atomic: if two clients create the table at once, one of them fails, and
   * its second attempt finds the table.
   */
  async #createTable(): Promise<void> {
    try {
      await this.#database.query(TABLE).catch(() => this.#database.query(TABLE));
    } catch (error) {
      this.#tableCreated = undefined;
      throw error;
    }
  }
}
