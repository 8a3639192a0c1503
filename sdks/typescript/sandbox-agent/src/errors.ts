import type { RelayError } from "./types/relay.js";

/** There is no connection: `connect()` was not called, or `disconnect()` was. */
export class NotConnectedError extends Error {
  override readonly name = "NotConnectedError";

  constructor(options?: ErrorOptions) {
    super("the client is not connected: call `connect()` first", options);
  }
}

/** There is a connection already, and a client has one at most. */
export class AlreadyConnectedError extends Error {
  override readonly name = "AlreadyConnectedError";

  constructor() {
    super("the client is connected already: call `disconnect()` first");
  }
}

/** The agent cannot do what it was asked for. */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
  /** What it cannot do: the name of the method of the client. */
  readonly feature: string;

  constructor(feature: string, agent: string) {
    super(`the agent \`${agent}\` cannot do \`${feature}\``);
    this.feature = feature;
  }
}

/** The agent answered with an error. */
export class AgentFailedError extends Error {
  override readonly name = "AgentFailedError";
  /** The agent's code for it. */
  readonly code: number;
  /** What the agent says beside it. */
  readonly data: unknown;

  constructor(message: string, code: number, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The agent's process ended before it answered, or is gone. */
export class AgentEndedError extends Error {
  override readonly name = "AgentEndedError";
}

/** Some of what a stream should go on with is no longer kept. */
export class GapError extends Error {
  override readonly name = "GapError";
  /** The place of the oldest that is there: reading goes on there with `after: oldest - 1`. */
  readonly oldest: number;
  /** The place of the newest that there was then. */
  readonly newest: number;

  constructor({ oldest, newest }: { readonly oldest: number; readonly newest: number }) {
    super(`some of the stream is no longer kept: the oldest that is there is ${oldest}`);
    this.oldest = oldest;
    this.newest = newest;
  }
}

/** The session is over. */
export class SessionEndedError extends Error {
  override readonly name = "SessionEndedError";
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`the session \`${sessionId}\` has ended`);
    this.sessionId = sessionId;
  }
}

/** A worker cannot be watched: there is none, or one may not. */
export class ObservationError extends Error {
  override readonly name = "ObservationError";
  /** What is wrong, for programs: a leg and a trouble, such as `backend.denied`. */
  readonly code: string;
  /** More of it. */
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

/** A device did not do what it was asked for. */
export class RelayRequestError extends Error {
  override readonly name = "RelayRequestError";
  /** Why, as the relay says it. */
  readonly relay: RelayError;

  constructor(relay: RelayError) {
    super(relay.message);
    this.relay = relay;
  }
}
