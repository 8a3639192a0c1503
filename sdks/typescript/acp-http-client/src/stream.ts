import { onAbort } from "./abort.js";
import type { AcpHttpClient } from "./client.js";
import { ExitedError, GapError, GoneError } from "./errors.js";
import type { ControlEvent, InstanceEvent } from "./events.js";
import { isRequest, type RpcMessage, type RpcRequest } from "./message.js";
import { ProblemError } from "./problem.js";

/** JSON-RPC error code "Invalid Request". */
const INVALID_REQUEST = -32600;

/** JSON-RPC error code "Internal error". */
const INTERNAL_ERROR = -32603;

/** Statuses that concern the token or the instance rather than one message. They end the stream. */
const FATAL_STATUSES = [401, 403, 404, 410];

/** A `Stream` of `@agentclientprotocol/sdk`. */
export interface AcpStream {
  /** Messages of the agent. */
  readonly readable: ReadableStream<RpcMessage>;
  /** Messages to the agent. */
  readonly writable: WritableStream<RpcMessage>;
}

/** Options of a stream. */
export interface StreamOptions {
  /** Called with each control event. If it is set, a gap does not end the stream. */
  readonly onControl?: ((event: ControlEvent) => void) | undefined;
}

/** Creates a stream on top of `events` and `send` of a client. */
export function createStream(client: AcpHttpClient, options: StreamOptions): AcpStream {
  const stop = new AbortController();
  const events = client.events();
  let readable: ReadableStreamDefaultController<RpcMessage> | undefined;

  const deliver = async (message: RpcMessage): Promise<void> => {
    try {
      await client.send(message, { signal: stop.signal });
    } catch (error) {
      if (isRequest(message) && error instanceof ProblemError && !FATAL_STATUSES.includes(error.status)) {
        readable?.enqueue(errorResponse(message, error));
        return;
      }
      readable?.error(error);
      throw error;
    }
  };

  return {
    readable: new ReadableStream<RpcMessage>(
      {
        start: (controller) => {
          readable = controller;
        },
        pull: async (controller) => {
          const message = await nextMessage(events, options);
          if (message === undefined) controller.close();
          else controller.enqueue(message);
        },
        cancel: async (reason) => {
          stop.abort(reason);
          await events.return?.();
        },
      },
      // Reading ahead would acknowledge events that the SDK has not taken.
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<RpcMessage>({
      start: (controller) => {
        onAbort([controller.signal], (reason) => stop.abort(reason));
      },
      write: deliver,
    }),
  };
}

/** The next message, or `undefined` at the end. */
async function nextMessage(
  events: AsyncIterator<InstanceEvent, undefined>,
  { onControl }: StreamOptions,
): Promise<RpcMessage | undefined> {
  for (;;) {
    const { done, value: event } = await events.next();
    if (done) return undefined;
    if (event.type === "message") return event.message;
    onControl?.(event);
    if (event.type === "gap" && onControl === undefined) throw new GapError(event);
    if (event.type === "exited") throw new ExitedError(event);
    if (event.type === "gone") throw new GoneError();
  }
}

function errorResponse({ id }: RpcRequest, { status, message, problem }: ProblemError): RpcMessage {
  const code = status < 500 ? INVALID_REQUEST : INTERNAL_ERROR;
  return { jsonrpc: "2.0", id, error: { code, message, data: problem } };
}
