import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onAbort, unlessAborted } from "./abort.js";
import type { Endpoint, HttpRequest } from "./endpoint.js";
import { ConnectionError, ProtocolError } from "./errors.js";
import { Watchdog } from "./time.js";

/** Size limit of one event: a message may have 64 MiB, and the rest is for the other fields of the event. */
const EVENT_CHARS_MAX: number = 65 << 20;

/** One connection to a stream of server-sent events. */
export interface EventStreamOptions {
  readonly endpoint: Endpoint;
  /** The request, if it is not a `GET` of the endpoint itself. */
  readonly request?: Partial<HttpRequest> | undefined;
  /** Id of the last event that was read (`Last-Event-ID`). If omitted, the server chooses where to start. */
  readonly after: number | undefined;
  /** The connection is given up after this time without any data. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Called when the connection is open, and for every chunk of data. */
  onActivity(): void;
  onEvent(event: EventSourceMessage): void;
  /** Returns a promise if no more is to be read until it resolves. */
  room(): Promise<void> | undefined;
}

/**
 * Reads one connection until the server ends it.
 *
 * Throws the signal's reason when it is aborted, `ProblemError` if the server answers with an error status,
 * `ConnectionError` if it is unreachable or the connection is lost, and `ProtocolError` if the response is invalid.
 */
export async function readEventStream(options: EventStreamOptions): Promise<void> {
  const connection = new AbortController();
  const release = onAbort([options.signal], (reason) => connection.abort(reason));
  const idle = new ConnectionError(`the server sent nothing for ${options.idleTimeoutMs} ms`);
  const watchdog = new Watchdog(options.idleTimeoutMs, () => connection.abort(idle));
  try {
    const body = await openEventStream(options, connection.signal);
    await pump(options, body, watchdog, connection.signal);
  } finally {
    watchdog.stop();
    release();
    // Closes the connection if it is still open.
    connection.abort();
  }
}

async function openEventStream(
  { endpoint, request, after }: EventStreamOptions,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = {
    ...request?.headers,
    accept: "text/event-stream",
    "last-event-id": after === undefined ? undefined : String(after),
  };
  const response = await endpoint.send({ method: "GET", ...request, headers }, signal);
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !type.startsWith("text/event-stream")) {
    throw new ProtocolError(`expected a stream of events, but the server answered with \`${type}\``);
  }
  return response.body;
}

async function pump(
  options: EventStreamOptions,
  body: ReadableStream<Uint8Array>,
  watchdog: Watchdog,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: EVENT_CHARS_MAX,
    onEvent: (event) => options.onEvent(event),
    onError: (error) => {
      // Other errors are unknown fields, which the standard says to ignore.
      if (error.type === "max-buffer-size-exceeded") throw new ProtocolError(error.message);
    },
  });
  const reader = body.getReader();
  for (;;) {
    options.onActivity();
    watchdog.activity();
    const { done, value } = await options.endpoint.receive(reader.read(), signal);
    if (done) return;
    // The signal may have been aborted while this chunk was on its way; the reader must not get its events then.
    signal.throwIfAborted();
    parser.feed(decoder.decode(value, { stream: true }));
    const room = options.room();
    if (room !== undefined) await watchdog.suspendDuring(unlessAborted(room, [signal]));
  }
}
