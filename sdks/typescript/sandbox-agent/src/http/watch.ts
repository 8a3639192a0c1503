import { ConnectionError, onAbort, Watchdog } from "@tombolo/acp-http-client/transport";
import type { Said } from "./follow.js";
import type { Http } from "./http.js";
import { Retry } from "./retry.js";
import { type Frame, openSocket, type Socket } from "./socket.js";

/** A stream over a WebSocket. */
export interface Watched<Item> {
  /** Where it is; asked for each connection, as it goes on from another place each time. */
  address(): { readonly path: string; readonly query: Readonly<Record<string, string | undefined>> };
  /** Asks the server about the same in another way, as a WebSocket does not tell why it was refused. */
  check(signal: AbortSignal): Promise<unknown>;
  /** What a frame says. */
  read(frame: Frame): Said<Item>;
  /** There is a connection, or there is none any more. */
  onSocket?(socket: Socket | undefined): void;
  /** How long the server may be silent; for ever if left out. */
  readonly silenceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a stream across cut connections. It ends when the stream says so, and fails with the reason of the signal
 * and as requests do.
 */
export async function* watch<Item>(
  http: Http,
  watched: Watched<Item>,
): AsyncGenerator<Item, undefined, undefined> {
  const stop = new AbortController();
  const release = onAbort([watched.signal, http.lifetime], (reason) => stop.abort(reason));
  const retry = new Retry(http.patience);
  try {
    for (;;) {
      try {
        let watchdog: Watchdog | undefined;
        const socket = await opened(http, watched, stop.signal, () => watchdog?.heard());
        watchdog = new Watchdog(watched.silenceMs ?? NEVER_MS, () => socket.close());
        watched.onSocket?.(socket);
        try {
          for await (const frame of socket.frames) {
            retry.reset();
            stop.signal.throwIfAborted();
            const said = watched.read(frame);
            if (said !== undefined && "over" in said) return undefined;
            if (said !== undefined) yield said.item;
            if (said?.last) return undefined;
          }
        } finally {
          // It was there until now, however long nothing was said.
          retry.heard();
          watchdog.stop();
          watched.onSocket?.(undefined);
          socket.close();
        }
      } catch (failure) {
        await retry.after(failure, stop.signal);
      }
    }
  } finally {
    release();
    stop.abort();
  }
}

/** The longest that a timer can wait, in milliseconds: 24 days. */
const NEVER_MS = 2 ** 31 - 1;

async function opened<Item>(
  http: Http,
  watched: Watched<Item>,
  signal: AbortSignal,
  heard: () => void,
): Promise<Socket> {
  const { path, query } = watched.address();
  try {
    return await openSocket(http, path, query, signal, heard);
  } catch (failure) {
    if (failure instanceof ConnectionError) await watched.check(signal);
    throw failure;
  }
}
