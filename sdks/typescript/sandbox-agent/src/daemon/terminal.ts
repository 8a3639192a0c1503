import type { TerminalSize } from "../generated/aliases.js";
import { type DecodedEvent, parseData } from "../http/follow-events.js";
import { followSocket } from "../http/follow-socket.js";
import { fillPath, stringValues } from "../http/route.js";
import type { RouteClient } from "../http/route-client.js";
import type { OpenSocket, SocketFrame } from "../http/socket.js";
import type { CallOptions } from "../options.js";
import type { Schemas } from "../types/schema.js";

/** A control frame of a terminal. */
export type TerminalNotice = Schemas["TerminalEvent"];

/** Output of a terminal, or a change of its state. */
export type TerminalEvent =
  | { readonly type: "output"; readonly seq: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The server has evicted output that was not read yet. The stream continues at `oldest`. */
  | { readonly type: "gap"; readonly oldest: number; readonly newest: number }
  /** The process exited. This is the last event. */
  | { readonly type: "exited"; readonly code: number | null; readonly signal: number | null };

/** Options for attaching to a terminal. */
export interface TerminalOptions extends CallOptions {
  /** `seq` of the last output that was read. Default: all output that the server has. */
  readonly after?: number | undefined;
}

/**
 * The terminal of a process. Iterate over it once to read its output, and write input to it. After a lost connection it
 * reconnects and delivers the output since then. The process does not depend on the connection.
 */
export class Terminal implements AsyncIterable<TerminalEvent, undefined> {
  readonly #http: RouteClient;
  readonly #id: string;
  readonly #signal: AbortSignal | undefined;
  #lastSeq: number | undefined;
  #socket: OpenSocket | undefined;

  /** @internal */
  constructor(http: RouteClient, id: string, { after, signal }: TerminalOptions = {}) {
    this.#http = http;
    this.#id = id;
    this.#lastSeq = after;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): AsyncGenerator<TerminalEvent, undefined, undefined> {
    const names = { id: this.#id };
    return followSocket<TerminalEvent>(this.#http, {
      address: () => ({
        path: fillPath("/v1/processes/{id}/terminal", names),
        query: stringValues({ after: this.#lastSeq }),
      }),
      check: (signal) => this.#http.json("get", "/v1/processes/{id}", { names, signal }),
      decode: (frame) => this.#decode(frame),
      onSocket: (socket) => {
        this.#socket = socket;
      },
      signal: this.#signal,
    });
  }

  /** Writes input. Uses an HTTP request while the terminal is not connected. */
  async write(text: string | Uint8Array<ArrayBuffer>, { signal }: CallOptions = {}): Promise<void> {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    if (this.#socket !== undefined) return this.#socket.send(bytes);
    await this.#http.done("post", "/v1/processes/{id}/input", {
      names: { id: this.#id },
      body: bytes,
      signal,
    });
  }

  /** Sets the size of the terminal. */
  resize(size: TerminalSize, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/processes/{id}/resize", {
      names: { id: this.#id },
      json: size,
      signal,
    });
  }

  #decode(frame: SocketFrame): DecodedEvent<TerminalEvent> {
    if (typeof frame !== "string") {
      const seq = (this.#lastSeq ?? 0) + 1;
      this.#lastSeq = seq;
      return { item: { type: "output", seq, bytes: frame } };
    }
    const notice = parseData<TerminalNotice>({ data: frame });
    switch (notice.type) {
      case "attached":
        this.#lastSeq = notice.after;
        return undefined;
      case "gap":
        this.#lastSeq = notice.oldest - 1;
        return { item: notice };
      case "exited":
        return { item: { type: "exited", code: notice.code, signal: notice.signal }, last: true };
      default:
        notice satisfies never;
        return undefined;
    }
  }
}
