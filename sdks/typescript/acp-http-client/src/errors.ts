import type { ExitedEvent, GapEvent } from "./events.js";
import type { RpcErrorObject } from "./message.js";

/** The agent answered a request with a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(error: RpcErrorObject) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
  }
}

/** The server is unreachable, or the connection to it was lost. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** The server sent something that violates the protocol. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** The client is closed. */
export class ClosedError extends Error {
  override readonly name = "ClosedError";

  constructor() {
    super("the client is closed");
  }
}

/** A queue of the client is full. Wait for earlier messages or requests to finish, then try again. */
export class BusyError extends Error {
  override readonly name = "BusyError";
}

/** The server has evicted events that were not read yet; the response to a request may be among them. */
export class GapError extends Error {
  override readonly name = "GapError";
  readonly gap: GapEvent;

  constructor(gap: GapEvent) {
    super(`the server has evicted events of the agent: event ${gap.oldest} is the oldest that it still has`);
    this.gap = gap;
  }
}

/** The agent's process exited before it answered. */
export class ExitedError extends Error {
  override readonly name = "ExitedError";
  readonly exit: ExitedEvent;

  constructor(exit: ExitedEvent) {
    super(`the agent exited ${describeExit(exit)} before it answered`);
    this.exit = exit;
  }
}

/** The instance no longer exists. */
export class GoneError extends Error {
  override readonly name = "GoneError";

  constructor(options?: ErrorOptions) {
    super("the instance no longer exists: it was deleted, or the server was restarted", options);
  }
}

function describeExit({ code, signal }: ExitedEvent): string {
  if (code !== null) return `with code ${code}`;
  return signal === null ? "without a status" : `because of signal ${signal}`;
}
