import type { RelayError } from "./types/relay.js";

/** The client is not connected: `connect()` was not called, or `disconnect()` was. */
export class NotConnectedError extends Error {
  override readonly name = "NotConnectedError";

  constructor(options?: ErrorOptions) {
    super("the client is not connected: call `connect()` first", options);
  }
}

/** The client is already connected; it has at most one connection. */
export class AlreadyConnectedError extends Error {
  override readonly name = "AlreadyConnectedError";

  constructor() {
    super("the client is already connected: call `disconnect()` first");
  }
}

/** The agent does not support a feature. */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
  /** The feature: the name of the client method. */
  readonly feature: string;

  constructor(feature: string, agent: string) {
    super(`the agent \`${agent}\` does not support \`${feature}\``);
    this.feature = feature;
  }
}

/** The agent answered with an error. */
export class AgentFailedError extends Error {
  override readonly name = "AgentFailedError";
  /** JSON-RPC error code. */
  readonly code: number;
  /** Additional data of the agent. */
  readonly data: unknown;

  constructor(message: string, code: number, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The agent's process exited before it answered, or its instance was deleted. */
export class AgentEndedError extends Error {
  override readonly name = "AgentEndedError";
}

/** The server has evicted events that were not read yet. */
export class GapError extends Error {
  override readonly name = "GapError";
  /** The oldest event that the server still has. Continue there with `after: oldest - 1`. */
  readonly oldest: number;
  /** The newest event at that time. */
  readonly newest: number;

  constructor({ oldest, newest }: { readonly oldest: number; readonly newest: number }) {
    super(`the server has evicted events that were not read yet: continue with \`after: ${oldest - 1}\``);
    this.oldest = oldest;
    this.newest = newest;
  }
}

/** The session has ended. */
export class SessionEndedError extends Error {
  override readonly name = "SessionEndedError";
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`the session \`${sessionId}\` has ended`);
    this.sessionId = sessionId;
  }
}

/** A session cannot be watched: it does not exist, or the user is not allowed to watch it. */
export class ObservationError extends Error {
  override readonly name = "ObservationError";
  /** Origin and kind of the problem, such as `backend.denied`. */
  readonly code: string;
  readonly details: unknown;

  constructor({
    code,
    message,
    details,
  }: { readonly code: string; readonly message: string; readonly details?: unknown }) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** A device answered a relay request with an error. */
export class RelayRequestError extends Error {
  override readonly name = "RelayRequestError";
  /** The error of the relay. */
  readonly relay: RelayError;

  constructor(relay: RelayError) {
    super(relay.message);
    this.relay = relay;
  }
}
