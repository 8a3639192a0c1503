/** What a session is known by, besides its id. Whatever else is put there is kept as it is. */
export interface SessionMetadata {
  readonly title?: string | undefined;
  readonly model?: string | undefined;
  readonly mode?: string | undefined;
  readonly variant?: string | undefined;
  readonly permissionMode?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly agentVersionRequested?: string | undefined;
  readonly requestedSessionId?: string | undefined;
  readonly [name: string]: unknown;
}

/** What a client knows of a session. */
export interface StoredSession {
  readonly sessionId: string;
  readonly agent: string;
  /** The directory that the agent works in. */
  readonly directory: string;
  /** RFC 3339, as all times are. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly ended: boolean;
  /** How much the agent has said in it. */
  readonly eventCount: number;
  readonly metadata: SessionMetadata;
}

/**
 * Where a client keeps what it knows of sessions. Values are JSON; what was put is what comes back, also to another
 * client that has the same store.
 */
export interface SessionStore {
  get(sessionId: string): Promise<StoredSession | undefined>;
  /** In the order in which they were created. */
  list(): Promise<readonly StoredSession[]>;
  /** Keeps a session, in place of what was kept of it. */
  put(session: StoredSession): Promise<void>;
  delete(sessionId: string): Promise<void>;
}
