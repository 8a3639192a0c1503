import { ConnectionError } from "@tombolo/acp-http-client/transport";
import type { Http } from "./http.js";
import { Mailbox } from "./mailbox.js";

/**
 * How many frames may wait for their reader. A WebSocket cannot be held back: one that is read too slowly is
 * closed, and the stream goes on from where its reader is.
 */
const FRAMES_MAX = 4096;

/** What is said on a WebSocket: text, or bytes. */
export type Frame = string | Uint8Array<ArrayBuffer>;

/** An open WebSocket. */
export interface Socket {
  /** What the server says, until the connection ends. */
  readonly frames: AsyncIterable<Frame>;
  send(frame: Frame): void;
  close(): void;
}

/** Opens a WebSocket, and tells whenever something is heard on it. Fails with `ConnectionError`, whatever the reason is: a WebSocket does not tell. */
export async function openSocket(
  http: Http,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  heard: () => void,
): Promise<Socket> {
  const url = http.endpoint.at(path, query);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const headers = await http.endpoint.headers();
  signal.throwIfAborted();
  const socket = (http.webSocket ?? platformSocket)(url.href, headers);
  socket.binaryType = "arraybuffer";
  const frames = new Mailbox<Frame>();
  // A peer that is gone does not answer to the end of a connection; so that is not waited for.
  const close = (): void => {
    frames.end({ reason: new ConnectionError(`the connection to ${url.host} was given up`) });
    socket.close();
  };
  signal.addEventListener("abort", close);
  void frames.ended.then(() => signal.removeEventListener("abort", close));
  socket.addEventListener("message", ({ data }) => {
    heard();
    frames.push(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer));
    if (frames.size <= FRAMES_MAX) return;
    close();
  });
  const late = setTimeout(close, http.patience.silenceMs);
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
    clearTimeout(late);
  }
  return { frames, send: (frame) => socket.send(frame), close };
}

/** The WebSocket of the platform. That of a browser knows no headers: the token goes among the sub-protocols. */
function platformSocket(url: string, headers: Headers): WebSocket {
  if (typeof WebSocket === "undefined") {
    throw new TypeError("there is no WebSocket on this platform: say how to open one with `webSocket`");
  }
  const { authorization = "", ...others } = Object.fromEntries(headers);
  const protocols = protocolsOf(authorization);
  const carried = protocols.length === 0 && authorization !== "" ? { ...others, authorization } : others;
  if (Object.keys(carried).length === 0) return new WebSocket(url, protocols);
  const Opened = WebSocket as new (url: string, options: unknown) => WebSocket;
  try {
    return new Opened(url, { protocols, headers: carried });
  } catch (cause) {
    // A browser takes the second argument for the name of a protocol.
    throw new TypeError("a WebSocket of this platform carries no headers", { cause });
  }
}

/** The sub-protocols that tell a token, and the one that the server chooses. */
function protocolsOf(authorization: string): string[] {
  const token = /^Bearer (.*)$/i.exec(authorization)?.[1];
  if (token === undefined) return [];
  const base64 = btoa(String.fromCharCode(...new TextEncoder().encode(token)));
  const name = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return ["tombolo", `tombolo.bearer.${name}`];
}
