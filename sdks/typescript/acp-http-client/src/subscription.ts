import { createParser, type EventSourceMessage } from "eventsource-parser";
import { onAbort, unlessAborted } from "./abort.js";
import type { Ask, Endpoint } from "./endpoint.js";
import { ConnectionError, ProtocolError } from "./errors.js";
import { Watchdog } from "./time.js";

/** The largest event: a message may have 64 MiB, and the rest is for its other fields. */
const EVENT_CHARS_MAX: number = 65 << 20;

/** One connection to a stream. */
export interface Subscription {
  readonly endpoint: Endpoint;
  /** Where the stream is, if it is not at the endpoint itself. */
  readonly ask?: Partial<Ask> | undefined;
  /** Reads what came after the event with this id; whatever the server begins with if left out. */
  readonly after: number | undefined;
  /** How long it may be silent until it is taken for dead. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** The server is there, and says something. */
  heard(): void;
  /** What it says. */
  onEvent(event: EventSourceMessage): void;
  /** Resolves once there is room for more; nothing if there is. */
  room(): Promise<void> | undefined;
}

/**
 * Reads a connection until the server ends it.
 *
 * Throws what the signal was aborted with, `ProblemError` if the server refuses, `ConnectionError` if it
 * cannot be reached or the connection is lost, and `ProtocolError` if what it says is not of this protocol.
 */
export async function read(subscription: Subscription): Promise<void> {
  const connection = new AbortController();
  const release = onAbort([subscription.signal], (reason) => connection.abort(reason));
  const silent = new ConnectionError(`the server was silent for ${subscription.silenceMs} ms`);
  const watchdog = new Watchdog(subscription.silenceMs, () => connection.abort(silent));
  try {
    const body = await open(subscription, connection.signal);
    await pump(subscription, body, watchdog, connection.signal);
  } finally {
    watchdog.stop();
    release();
    // Frees the connection, if it is still there.
    connection.abort();
  }
}

async function open(
  { endpoint, ask, after }: Subscription,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = {
    ...ask?.headers,
    accept: "text/event-stream",
    "last-event-id": after === undefined ? undefined : String(after),
  };
  const response = await endpoint.ask({ method: "GET", ...ask, headers }, signal);
  const type = response.headers.get("content-type") ?? "";
  if (response.body === null || !type.startsWith("text/event-stream")) {
    throw new ProtocolError(`the server answered with \`${type}\` in place of a stream of events`);
  }
  return response.body;
}

async function pump(
  subscription: Subscription,
  body: ReadableStream<Uint8Array>,
  watchdog: Watchdog,
  signal: AbortSignal,
): Promise<void> {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: EVENT_CHARS_MAX,
    onEvent: (event) => subscription.onEvent(event),
    onError: (error) => {
      // Fields that are not known are skipped, as the standard says.
      if (error.type === "max-buffer-size-exceeded") throw new ProtocolError(error.message);
    },
  });
  const reader = body.getReader();
  for (;;) {
    subscription.heard();
    watchdog.heard();
    const { done, value } = await subscription.endpoint.reached(reader.read(), signal);
    if (done) return;
    // Whoever does not want more shall not get what came in the same moment.
    signal.throwIfAborted();
    parser.feed(decoder.decode(value, { stream: true }));
    const room = subscription.room();
    if (room !== undefined) await watchdog.during(unlessAborted(room, [signal]));
  }
}
