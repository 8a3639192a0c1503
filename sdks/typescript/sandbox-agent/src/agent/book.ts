import type { SessionMetadata, SessionStore, StoredSession } from "../store/store.js";

/** A session as a client lists it, with its metadata among its own fields. */
export type SessionInfo = Omit<StoredSession, "metadata"> & SessionMetadata;

/** What a client knows of sessions, kept in a store: each change once, one write of a session at a time. */
export class Book {
  readonly #store: SessionStore;
  /** Sessions that changed, and are not written yet. */
  readonly #changed = new Map<string, StoredSession>();
  /** Those that are being written. */
  #writing: Promise<void> | undefined;
  /** The sessions that this client has to do with. */
  readonly #live = new Map<string, StoredSession>();
  /** What was said in them, and is not among what is known of them yet. */
  readonly #heard = new Map<string, { count: number; at: number }>();
  /** The sessions that this client wants to hear no more of. */
  readonly #detached = new Set<string>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** The sessions that are used by this client and have not ended. */
  get live(): readonly string[] {
    return [...this.#live.values()].flatMap(({ sessionId, ended }) => (ended ? [] : [sessionId]));
  }

  /** Whether a session was ended by this client or with its agent. */
  hasEnded(sessionId: string): boolean {
    return this.#live.get(sessionId)?.ended ?? false;
  }

  /** Begins to keep a session, with what was known of it before. */
  async open(
    session: Pick<StoredSession, "sessionId" | "agent" | "directory">,
    metadata: SessionMetadata,
  ): Promise<SessionInfo> {
    const at = time();
    // What is not written yet is newer.
    const before = this.#session(session.sessionId) ?? (await this.#store.get(session.sessionId));
    const opened = {
      createdAt: at,
      eventCount: 0,
      ...before,
      ...session,
      updatedAt: at,
      ended: false,
      metadata: { ...before?.metadata, ...metadata },
    };
    this.#detached.delete(session.sessionId);
    this.#set(opened);
    await this.written();
    return infoOf(opened);
  }

  /** Something was said in a session. What is said in one go is written once. */
  count(sessionId: string): void {
    const heard = this.#heard.get(sessionId);
    if (heard !== undefined) {
      heard.count += 1;
      heard.at = Date.now();
    } else if (this.#live.has(sessionId)) {
      this.#heard.set(sessionId, { count: 1, at: Date.now() });
      setTimeout(() => this.#begin());
    }
  }

  /** A session is over. */
  end(sessionId: string): void {
    const session = this.#session(sessionId);
    if (session !== undefined) this.#set({ ...session, ended: true, updatedAt: time() });
  }

  /** Adds to the metadata of a session; what is `undefined` is taken away. */
  async describe(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo | undefined> {
    const session = this.#session(sessionId) ?? (await this.#store.get(sessionId));
    if (session === undefined) return undefined;
    const described = { ...session, metadata: { ...session.metadata, ...metadata }, updatedAt: time() };
    if (this.#live.has(sessionId)) this.#live.set(sessionId, described);
    this.#changed.set(sessionId, described);
    await this.written();
    return infoOf(described);
  }

  /** Whether nothing of a session is to be heard any more. */
  isDetached(sessionId: string): boolean {
    return this.#detached.has(sessionId);
  }

  /** Wants to hear no more of a session; it stays in the store. */
  async detach(sessionId: string): Promise<void> {
    this.#detached.add(sessionId);
    await this.close(sessionId);
  }

  /** Does not use a session any more; it stays in the store. */
  async close(sessionId: string): Promise<void> {
    await this.written();
    this.#live.delete(sessionId);
    this.#heard.delete(sessionId);
  }

  /** All that the store has. */
  async list(): Promise<readonly SessionInfo[]> {
    await this.written();
    return (await this.#store.list()).map(infoOf);
  }

  /** Resolves once everything is in the store; fails if it cannot be written. */
  async written(): Promise<void> {
    for (;;) {
      for (const sessionId of this.#heard.keys()) this.#session(sessionId);
      if (this.#writing === undefined && this.#changed.size === 0) return;
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  /** A session that this client has to do with, with all that was said in it. */
  #session(sessionId: string): StoredSession | undefined {
    const session = this.#live.get(sessionId);
    const heard = this.#heard.get(sessionId);
    if (session === undefined || heard === undefined) return session;
    this.#heard.delete(sessionId);
    const counted = {
      ...session,
      eventCount: session.eventCount + heard.count,
      updatedAt: time(heard.at),
    };
    this.#live.set(sessionId, counted);
    this.#changed.set(sessionId, counted);
    return counted;
  }

  #set(session: StoredSession): void {
    this.#live.set(session.sessionId, session);
    this.#changed.set(session.sessionId, session);
    this.#begin();
  }

  /** Begins to write. A failure is told to the next who waits for it, as what is not written stays among the changed. */
  #begin(): void {
    this.written().catch(() => {});
  }

  async #write(): Promise<void> {
    for (const [sessionId, session] of this.#changed) {
      await this.#store.put(session);
      // It may have changed again meanwhile.
      if (this.#changed.get(sessionId) === session) this.#changed.delete(sessionId);
    }
  }
}

function infoOf({ metadata, ...session }: StoredSession): SessionInfo {
  return { ...metadata, ...session };
}

function time(at: number = Date.now()): string {
  return new Date(at).toISOString();
}
