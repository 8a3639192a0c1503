import { parsed, type Said } from "../http/follow.js";
import type { Http } from "../http/http.js";
import { filled, written } from "../http/route.js";
import type { Frame, Socket } from "../http/socket.js";
import { watch } from "../http/watch.js";
import type { CallOptions } from "../options.js";
import type { TerminalNotice, TerminalSize } from "../types/daemon.js";

/** What a terminal shows. */
export type TerminalEvent =
  | { readonly type: "output"; readonly seq: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Some of it is no longer kept. What follows starts at `oldest`. */
  | { readonly type: "gap"; readonly oldest: number; readonly newest: number }
  /** The process has ended: the last that is shown. */
  | { readonly type: "exited"; readonly code: number | null; readonly signal: number | null };

/** How a terminal is looked at. */
export interface TerminalOptions extends CallOptions {
  /** The number of the last piece that was seen; everything that is kept is shown if left out. */
  readonly after?: number | undefined;
}

/**
 * The terminal of a process: read what it shows, once, and type on it. A lost connection is made anew, and what was
 * shown meanwhile comes then. The process goes on when nobody looks.
 */
export class Terminal implements AsyncIterable<TerminalEvent, undefined> {
  readonly #http: Http;
  readonly #id: string;
  readonly #signal: AbortSignal | undefined;
  #seen: number | undefined;
  #socket: Socket | undefined;

  /** @internal */
  constructor(http: Http, id: string, { after, signal }: TerminalOptions = {}) {
    this.#http = http;
    this.#id = id;
    this.#seen = after;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): AsyncGenerator<TerminalEvent, undefined, undefined> {
    const names = { id: this.#id };
    return watch<TerminalEvent>(this.#http, {
      address: () => ({
        path: filled("/v1/processes/{id}/terminal", names),
        query: written({ after: this.#seen }),
      }),
      check: (signal) => this.#http.json("get", "/v1/processes/{id}", { names, signal }),
      read: (frame) => this.#read(frame),
      onSocket: (socket) => {
        this.#socket = socket;
      },
      signal: this.#signal,
    });
  }

  /** Types. What is typed while there is no connection goes another way. */
  async type(text: string | Uint8Array<ArrayBuffer>, { signal }: CallOptions = {}): Promise<void> {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    if (this.#socket !== undefined) return this.#socket.send(bytes);
    await this.#http.done("post", "/v1/processes/{id}/input", {
      names: { id: this.#id },
      body: bytes,
      signal,
    });
  }

  /** Tells the process another size. */
  resize(size: TerminalSize, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/processes/{id}/resize", {
      names: { id: this.#id },
      json: size,
      signal,
    });
  }

  #read(frame: Frame): Said<TerminalEvent> {
    if (typeof frame !== "string") {
      const seq = (this.#seen ?? 0) + 1;
      this.#seen = seq;
      return { item: { type: "output", seq, bytes: frame } };
    }
    const notice = parsed<TerminalNotice>({ data: frame });
    switch (notice.type) {
      case "attached":
        this.#seen = notice.after;
        return undefined;
      case "gap":
        this.#seen = notice.oldest - 1;
        return { item: notice };
      case "exited":
        return { item: { type: "exited", code: notice.code, signal: notice.signal }, last: true };
      default:
        notice satisfies never;
        return undefined;
    }
  }
}
