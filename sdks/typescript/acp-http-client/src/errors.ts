import type { ExitedEvent, GapEvent } from "./events.js";
import type { ErrorObject } from "./message.js";

/** The agent answered a request with an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  /** The error code of JSON-RPC. */
  readonly code: number;
  /** What the agent says beside it. */
  readonly data: unknown;

  constructor(error: ErrorObject) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

/** The server could not be reached, or the connection was lost; `cause` says more. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** The server said something that is not of this protocol. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** The client was closed. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";

  constructor() {
    super("the client is closed");
  }
}

/** Too much waits already: a limit of the client is reached. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

/** What the agent said is missing, and the response to a request may be among it. */
export class GapError extends Error {
  override readonly name = "GapError";
  /** What is missing. */
  readonly gap: GapEvent;

  constructor(gap: GapEvent) {
    super(`some of what the agent said is no longer kept: the oldest event that is there is ${gap.oldest}`);
    this.gap = gap;
  }
}

/** The agent's process ended before it answered. */
export class ExitedError extends Error {
  override readonly name = "ExitedError";
  /** How it ended. */
  readonly exit: ExitedEvent;

  constructor(exit: ExitedEvent) {
    super(`the agent ended ${how(exit)} before it answered`);
    this.exit = exit;
  }
}

/** The server no longer has the instance. */
export class GoneError extends Error {
  override readonly name = "GoneError";

  constructor(options?: ErrorOptions) {
    super("the instance is gone: it was deleted, or the server was started anew", options);
  }
}

function how({ code, signal }: ExitedEvent): string {
  if (code !== null) return `with code ${code}`;
  return signal === null ? "without a status" : `by signal ${signal}`;
}
