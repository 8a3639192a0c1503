import { ConnectionError } from "@tombolo/acp-http-client/transport";
import { AsyncQueue } from "./async-queue.js";
import type { RouteClient } from "./route-client.js";

/**
 * How many frames may be queued for a reader. A WebSocket has no backpressure: the connection to a slower reader is
 * closed, and the stream continues on another from where the reader is.
 */
const FRAMES_MAX = 4096;

/** A text or binary frame of a WebSocket. */
export type SocketFrame = string | Uint8Array<ArrayBuffer>;

/** An open WebSocket. */
export interface OpenSocket {
  /** The frames of the server, until the connection ends. */
  readonly frames: AsyncIterable<SocketFrame>;
  send(frame: SocketFrame): void;
  close(): void;
}

/**
 * Opens a WebSocket. `onActivity` is called for each frame. Every failure is a `ConnectionError`, as a WebSocket does not
 * expose the status of a rejected request.
 */
export async function openSocket(
  http: RouteClient,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  onActivity: () => void,
): Promise<OpenSocket> {
  const url = http.endpoint.resolve(path, query);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const headers = await http.endpoint.headers();
  signal.throwIfAborted();
  const socket = (http.webSocket ?? platformSocket)(url.href, headers);
  socket.binaryType = "arraybuffer";
  const frames = new AsyncQueue<SocketFrame>();
  // Ends the frames at once: a peer that is gone never completes the closing handshake.
  const close = (): void => {
    frames.end({ reason: new ConnectionError(`the connection to ${url.host} was given up`) });
    socket.close();
  };
  signal.addEventListener("abort", close);
  void frames.ended.then(() => signal.removeEventListener("abort", close));
  socket.addEventListener("message", ({ data }) => {
    onActivity();
    frames.push(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer));
    if (frames.size <= FRAMES_MAX) return;
    close();
  });
  const timer = setTimeout(close, http.policy.idleTimeoutMs);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("close", ({ code, reason }) => {
        frames.end({
          reason: new ConnectionError(`the connection to ${url.host} was closed: ${reason || code}`),
        });
      });
      frames.ended.then(reject);
    });
  } finally {
    clearTimeout(timer);
  }
  return { frames, send: (frame) => socket.send(frame), close };
}

/** Opens a WebSocket of the platform. Browsers cannot set headers on it, so token and page key are sent as sub-protocols. */
function platformSocket(url: string, headers: Headers): WebSocket {
  if (typeof WebSocket === "undefined") {
    throw new TypeError("this platform has no WebSocket: pass the option `webSocket`");
  }
  const { authorization = "", "tombolo-page-key": pageKey, ...others } = Object.fromEntries(headers);
  const tokens = tokenProtocols(authorization);
  const keys = pageKey === undefined ? [] : [`tombolo.page-key.${pageKey}`];
  const protocols = tokens.length + keys.length === 0 ? [] : ["tombolo", ...tokens, ...keys];
  const sent = tokens.length === 0 && authorization !== "" ? { ...others, authorization } : others;
  if (Object.keys(sent).length === 0) return new WebSocket(url, protocols);
  const WebSocketWithHeaders = WebSocket as new (url: string, options: unknown) => WebSocket;
  try {
    return new WebSocketWithHeaders(url, { protocols, headers: sent });
  } catch (cause) {
    // A browser takes the second argument for the name of a sub-protocol, and rejects it.
    throw new TypeError("a WebSocket of this platform cannot carry headers: pass the option `webSocket`", {
      cause,
    });
  }
}

/** The sub-protocol that carries a bearer token. The server selects `tombolo`, which is offered with it. */
function tokenProtocols(authorization: string): string[] {
  const token = /^Bearer (.*)$/i.exec(authorization)?.[1];
  if (token === undefined) return [];
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(token)));
  const name = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return [`tombolo.bearer.${name}`];
}
