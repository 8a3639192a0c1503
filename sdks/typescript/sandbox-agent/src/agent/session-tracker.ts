import type { SessionMetadata, SessionStore, StoredSession } from "../store/store.js";

/** A session as a client lists it, with its metadata beside its own fields. */
export type SessionInfo = Omit<StoredSession, "metadata"> & SessionMetadata;

/**
 * Tracks the sessions of a client and writes changes to a store. At most one write runs at a time, and events that arrive
 * together cause one write.
 */
export class SessionTracker {
  readonly #store: SessionStore;
  /** Sessions that have changed since they were last written. */
  readonly #changed = new Map<string, StoredSession>();
  #writing: Promise<void> | undefined;
  /** The sessions that this client uses. */
  readonly #active = new Map<string, StoredSession>();
  /** Events that are not part of the `eventCount` in `#active` yet, and the time of the last. */
  readonly #uncounted = new Map<string, { count: number; at: number }>();
  /** Sessions whose events this client ignores. */
  readonly #detached = new Set<string>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** The sessions that this client uses and that have not ended. */
  get liveSessionIds(): readonly string[] {
    return [...this.#active.values()].flatMap(({ sessionId, ended }) => (ended ? [] : [sessionId]));
  }

  /** Whether this client or the end of the agent has ended a session. */
  hasEnded(sessionId: string): boolean {
    return this.#active.get(sessionId)?.ended ?? false;
  }

  /** Starts to track a session. Keeps what the store has about it. */
  async open(
    session: Pick<StoredSession, "sessionId" | "agent" | "directory">,
    metadata: SessionMetadata,
  ): Promise<SessionInfo> {
    const at = timestamp();
    // The tracked session may have changes that are not in the store yet.
    const before = this.#counted(session.sessionId) ?? (await this.#store.get(session.sessionId));
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
    await this.flush();
    return sessionInfo(opened);
  }

  /** Counts an event of a session. */
  countEvent(sessionId: string): void {
    const uncounted = this.#uncounted.get(sessionId);
    if (uncounted !== undefined) {
      uncounted.count += 1;
      uncounted.at = Date.now();
    } else if (this.#active.has(sessionId)) {
      this.#uncounted.set(sessionId, { count: 1, at: Date.now() });
      // Deferred, so that all events of one chunk of the stream are written at once.
      setTimeout(() => this.#startFlush());
    }
  }

  markEnded(sessionId: string): void {
    const session = this.#counted(sessionId);
    if (session !== undefined) this.#set({ ...session, ended: true, updatedAt: timestamp() });
  }

  /** Merges metadata into that of a session; `undefined` removes a field. Returns nothing for an unknown session. */
  async updateMetadata(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo | undefined> {
    const session = this.#counted(sessionId) ?? (await this.#store.get(sessionId));
    if (session === undefined) return undefined;
    const updated = { ...session, metadata: { ...session.metadata, ...metadata }, updatedAt: timestamp() };
    if (this.#active.has(sessionId)) this.#active.set(sessionId, updated);
    this.#changed.set(sessionId, updated);
    await this.flush();
    return sessionInfo(updated);
  }

  isDetached(sessionId: string): boolean {
    return this.#detached.has(sessionId);
  }

  /** Ignores the events of a session from now on. It stays in the store. */
  async detach(sessionId: string): Promise<void> {
    this.#detached.add(sessionId);
    await this.close(sessionId);
  }

  /** Stops tracking a session. It stays in the store. */
  async close(sessionId: string): Promise<void> {
    await this.flush();
    this.#active.delete(sessionId);
    this.#uncounted.delete(sessionId);
  }

  /** All sessions in the store. */
  async list(): Promise<readonly SessionInfo[]> {
    await this.flush();
    return (await this.#store.list()).map(sessionInfo);
  }

  /** Resolves once every change is in the store; rejects if the store does. */
  async flush(): Promise<void> {
    for (;;) {
      for (const sessionId of this.#uncounted.keys()) this.#counted(sessionId);
      if (this.#writing === undefined && this.#changed.size === 0) return;
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
      });
      await this.#writing;
    }
  }

  /** A tracked session, after adding its uncounted events. */
  #counted(sessionId: string): StoredSession | undefined {
    const session = this.#active.get(sessionId);
    const uncounted = this.#uncounted.get(sessionId);
    if (session === undefined || uncounted === undefined) return session;
    this.#uncounted.delete(sessionId);
    const counted = {
      ...session,
      eventCount: session.eventCount + uncounted.count,
      updatedAt: timestamp(uncounted.at),
    };
    this.#active.set(sessionId, counted);
    this.#changed.set(sessionId, counted);
    return counted;
  }

  #set(session: StoredSession): void {
    this.#active.set(session.sessionId, session);
    this.#changed.set(session.sessionId, session);
    this.#startFlush();
  }

  /** Flushes in the background. After a failure the session stays in `#changed`, so the next `flush` reports it. */
  #startFlush(): void {
    this.flush().catch(() => {});
  }

  async #write(): Promise<void> {
    for (const [sessionId, session] of this.#changed) {
      await this.#store.put(session);
      // The session may have changed again during the write.
      if (this.#changed.get(sessionId) === session) this.#changed.delete(sessionId);
    }
  }
}

function sessionInfo({ metadata, ...session }: StoredSession): SessionInfo {
  return { ...metadata, ...session };
}

function timestamp(at: number = Date.now()): string {
  return new Date(at).toISOString();
}
