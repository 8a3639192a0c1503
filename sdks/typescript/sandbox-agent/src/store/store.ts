/** Metadata of a session. Additional fields are stored unchanged. */
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

/** A session as a client stores it. */
export interface StoredSession {
  readonly sessionId: string;
  readonly agent: string;
  /** Working directory of the agent. */
  readonly directory: string;
  /** RFC 3339, like all times. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly ended: boolean;
  /** Number of updates that the agent has sent. */
  readonly eventCount: number;
  readonly metadata: SessionMetadata;
}

/**
 * Storage for the sessions of a client. Values must survive a round trip through JSON. Several clients may share a
 * store.
 */
export interface SessionStore {
  get(sessionId: string): Promise<StoredSession | undefined>;
  /** Lists all sessions in the order of their creation. */
  list(): Promise<readonly StoredSession[]>;
  /** Adds or replaces a session. */
  put(session: StoredSession): Promise<void>;
  delete(sessionId: string): Promise<void>;
}
