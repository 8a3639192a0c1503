import { ConnectionError } from "./errors.js";
import type { EndpointOptions } from "./options.js";
import { problemOf } from "./problem.js";

/** What is asked of the server. */
export interface Ask {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Where, below the address of the endpoint; that address itself if left out. */
  readonly path?: string | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: Body | undefined;
}

/** What a request can carry; a stream is sent as it comes. */
export type Body = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** Where a server is, and what every request to it has. */
export class Endpoint {
  readonly #url: URL;
  readonly #headers: Headers;
  readonly #token: EndpointOptions["token"];
  readonly #fetch: typeof globalThis.fetch;

  constructor(url: URL, options: EndpointOptions) {
    this.#url = url;
    this.#headers = new Headers(options.headers);
    this.#token = options.token;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /**
   * The answer, if it is a success.
   *
   * Throws what the signal was aborted with, `ProblemError` if the server refuses, and `ConnectionError` if
   * there is no answer.
   */
  async ask(ask: Ask, signal: AbortSignal): Promise<Response> {
    const headers = await this.headers(ask.headers);
    signal.throwIfAborted();
    const { method, body } = ask;
    const init: RequestInit & { duplex?: "half" } = { method, headers, signal };
    if (body !== undefined) init.body = body;
    // Without it, no platform sends a stream.
    if (body instanceof ReadableStream) init.duplex = "half";
    const response = await this.reached(this.#fetch(this.at(ask.path, ask.query).href, init), signal);
    if (!response.ok) throw await problemOf(response);
    return response;
  }

  /** The address of something below this one. */
  at(path?: string, query: Ask["query"] = {}): URL {
    const url = new URL(this.#url);
    if (path !== undefined) url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  }

  /** The headers of a request: these, and what every request has. */
  async headers(more: Ask["headers"] = {}): Promise<Headers> {
    const headers = new Headers(this.#headers);
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(more)) {
      if (value !== undefined) headers.set(name, value);
    }
    return headers;
  }

  /** What comes over the connection; a failure is that of the connection, unless the signal was aborted. */
  async reached<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await answer;
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw new ConnectionError(`could not reach ${this.#url.origin}: ${reason(cause)}`, { cause });
    }
  }
}

/** What went wrong; platforms hide it in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
