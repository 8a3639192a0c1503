import {
  ConnectionError,
  type EventStreamOptions,
  type HttpRequest,
  onAbort,
  ProblemError,
  ProtocolError,
  readEventStream,
} from "@tombolo/acp-http-client/transport";
import { GapError } from "../errors.js";
import { AsyncQueue } from "./async-queue.js";
import { RetryLoop } from "./retry-loop.js";
import type { RouteClient } from "./route-client.js";

/** A server-sent event. */
export type ServerEvent = Parameters<EventStreamOptions["onEvent"]>[0];

/** The meaning of an event or frame: an item, which may be the last; the end of the stream; or nothing of interest. */
export type DecodedEvent<Item> =
  | { readonly item: Item; readonly last?: boolean }
  | { readonly over: true }
  | undefined;

/** A stream of server-sent events. */
export interface EventSubscription<Item> {
  readonly request: HttpRequest;
  /** Id of the last event that was read. If omitted, the server chooses where to start. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Decodes any event except `gap`. */
  decode(event: ServerEvent): DecodedEvent<Item>;
}

/**
 * Reads a stream across lost connections. Events with an id come once and in order.
 *
 * It ends with the last item, and when the resource was deleted. It throws the signal's reason, `GapError`, and the
 * errors of requests.
 */
export async function* followEvents<Item>(
  http: RouteClient,
  subscription: EventSubscription<Item>,
): AsyncGenerator<Item, undefined, undefined> {
  const stop = new AbortController();
  const release = onAbort([subscription.signal, http.lifetime], (reason) => stop.abort(reason));
  const retry = new RetryLoop(http.policy);
  let { after } = subscription;
  let wasConnected = false;
  let isConnected = false;
  const onActivity = (): void => {
    wasConnected = true;
    isConnected = true;
  };
  try {
    for (;;) {
      try {
        for await (const event of readConnection(
          http,
          subscription.request,
          after,
          onActivity,
          stop.signal,
        )) {
          retry.onSuccess();
          // The signal may have been aborted while the event was queued; the reader must not get it then.
          stop.signal.throwIfAborted();
          if (event.event === "gap") throw new GapError(parseData(event));
          const decoded = subscription.decode(event);
          if (decoded !== undefined && "over" in decoded) return undefined;
          if (decoded !== undefined) yield decoded.item;
          if (decoded?.last) return undefined;
          if (event.id !== undefined) after = Number(event.id);
        }
        throw new ConnectionError("the server ended the stream");
      } catch (failure) {
        // The server was reachable until now, even if the last event is long ago.
        if (isConnected) retry.onActivity();
        isConnected = false;
        if (wasConnected && failure instanceof ProblemError && failure.status === 404) return undefined;
        await retry.waitOrThrow(failure, stop.signal);
      }
    }
  } finally {
    release();
    stop.abort();
  }
}

/** Reads one connection to its end. */
export async function* readConnection(
  http: RouteClient,
  request: HttpRequest,
  after: number | undefined,
  onActivity: () => void,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent, undefined, undefined> {
  const events = new AsyncQueue<ServerEvent>();
  const stop = new AbortController();
  const release = onAbort([signal], (reason) => stop.abort(reason));
  const { endpoint, policy } = http;
  const reading = readEventStream({
    endpoint,
    request,
    after,
    idleTimeoutMs: policy.idleTimeoutMs,
    signal: stop.signal,
    onActivity,
    onEvent: (event) => events.push(event),
    room: () => events.room(),
  }).then(
    () => events.end(),
    (reason) => events.end({ reason }),
  );
  try {
    yield* events;
  } finally {
    release();
    stop.abort();
    await reading;
  }
}

/** Parses the data of an event or a frame. */
export function parseData<T>({ data }: { readonly data: string }): T {
  try {
    return JSON.parse(data) as T;
  } catch (cause) {
    throw new ProtocolError("the server sent an event that is not JSON", { cause });
  }
}
