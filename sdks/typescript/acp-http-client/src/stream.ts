import { onAbort } from "./abort.js";
import type { AcpHttpClient } from "./client.js";
import { ExitedError, GapError, GoneError } from "./errors.js";
import type { AgentEvent, ControlEvent } from "./events.js";
import { isRequest, type Message, type RequestMessage } from "./message.js";
import { ProblemError } from "./problem.js";

/** JSON-RPC: the request is not valid. */
const INVALID_REQUEST = -32600;

/** JSON-RPC: something broke on the way. */
const INTERNAL_ERROR = -32603;

/** Refusals that are not of one message, but of whoever sends it or of the instance. */
const FATAL = [401, 403, 404, 410];

/** The two ends of a conversation with an agent: a `Stream` of `@agentclientprotocol/sdk`. */
export interface AcpStream {
  /** What the agent says. */
  readonly readable: ReadableStream<Message>;
  /** What is said to the agent. */
  readonly writable: WritableStream<Message>;
}

/** How a stream deals with what is no message. */
export interface StreamOptions {
  /** Is told what the transport says. With it, a gap does not end the stream. */
  readonly onControl?: ((event: ControlEvent) => void) | undefined;
}

/** A conversation over the events and the sending of a client. */
export function streamOf(client: AcpHttpClient, options: StreamOptions): AcpStream {
  const stop = new AbortController();
  const events = client.events();
  let readable: ReadableStreamDefaultController<Message> | undefined;

  const deliver = async (message: Message): Promise<void> => {
    try {
      await client.send(message, { signal: stop.signal });
    } catch (error) {
      if (isRequest(message) && error instanceof ProblemError && !FATAL.includes(error.status)) {
        readable?.enqueue(refusal(message, error));
        return;
      }
      readable?.error(error);
      throw error;
    }
  };

  return {
    readable: new ReadableStream<Message>(
      {
        start: (controller) => {
          readable = controller;
        },
        pull: async (controller) => {
          const message = await next(events, options);
          if (message === undefined) controller.close();
          else controller.enqueue(message);
        },
        cancel: async (reason) => {
          stop.abort(reason);
          await events.return?.();
        },
      },
      // What is not asked for is not taken.
      { highWaterMark: 0 },
    ),
    writable: new WritableStream<Message>({
      start: (controller) => {
        onAbort([controller.signal], (reason) => stop.abort(reason));
      },
      write: deliver,
    }),
  };
}

/** The next message; nothing if there are no more. */
async function next(
  events: AsyncIterator<AgentEvent, undefined>,
  { onControl }: StreamOptions,
): Promise<Message | undefined> {
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

function refusal({ id }: RequestMessage, { status, message, problem }: ProblemError): Message {
  const code = status < 500 ? INVALID_REQUEST : INTERNAL_ERROR;
  return { jsonrpc: "2.0", id, error: { code, message, data: problem } };
}
