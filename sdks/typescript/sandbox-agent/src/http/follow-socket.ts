import { ConnectionError, onAbort, Watchdog } from "@tombolo/acp-http-client/transport";
import type { DecodedEvent } from "./follow-events.js";
import { RetryLoop } from "./retry-loop.js";
import type { RouteClient } from "./route-client.js";
import { type OpenSocket, openSocket, type SocketFrame } from "./socket.js";

/** The longest delay of a timer: 24 days. */
const TIMER_MAX_MS = 2 ** 31 - 1;

/** A stream over a WebSocket. */
export interface SocketSubscription<Item> {
  /** The address of the next connection, which may depend on what was read so far. */
  address(): { readonly path: string; readonly query: Readonly<Record<string, string | undefined>> };
  /** Sends an HTTP request that is rejected for the same reason as the WebSocket, whose failure names no reason. */
  check(signal: AbortSignal): Promise<unknown>;
  decode(frame: SocketFrame): DecodedEvent<Item>;
  /** Called with each new connection, and with `undefined` when it is lost. */
  onSocket?(socket: OpenSocket | undefined): void;
  /** A connection without a frame for this time is replaced. Default: never. */
  readonly idleTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads a stream across lost connections, until its last item. Throws the signal's reason and the errors of requests. */
export async function* followSocket<Item>(
  http: RouteClient,
  subscription: SocketSubscription<Item>,
): AsyncGenerator<Item, undefined, undefined> {
  const stop = new AbortController();
  const release = onAbort([subscription.signal, http.lifetime], (reason) => stop.abort(reason));
  const retry = new RetryLoop(http.policy);
  try {
    for (;;) {
      try {
        let watchdog: Watchdog | undefined;
        const socket = await connect(http, subscription, stop.signal, () => watchdog?.activity());
        watchdog = new Watchdog(subscription.idleTimeoutMs ?? TIMER_MAX_MS, () => socket.close());
        subscription.onSocket?.(socket);
        try {
          for await (const frame of socket.frames) {
            retry.onSuccess();
            stop.signal.throwIfAborted();
            const decoded = subscription.decode(frame);
            if (decoded !== undefined && "over" in decoded) return undefined;
            if (decoded !== undefined) yield decoded.item;
            if (decoded?.last) return undefined;
          }
        } finally {
          // The server was reachable until now, even if the last frame is long ago.
          retry.onActivity();
          watchdog.stop();
          subscription.onSocket?.(undefined);
          socket.close();
        }
      } catch (failure) {
        await retry.waitOrThrow(failure, stop.signal);
      }
    }
  } finally {
    release();
    stop.abort();
  }
}

async function connect<Item>(
  http: RouteClient,
  subscription: SocketSubscription<Item>,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<OpenSocket> {
  const { path, query } = subscription.address();
  try {
    return await openSocket(http, path, query, signal, onActivity);
  } catch (failure) {
    if (failure instanceof ConnectionError) await subscription.check(signal);
    throw failure;
  }
}
