import { unlessAborted } from "./abort.js";
import { ConnectionError } from "./errors.js";
import type { EndpointOptions } from "./options.js";
import { readProblem } from "./problem.js";

/** A request to an endpoint. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Appended to the URL of the endpoint. */
  readonly path?: string | undefined;
  readonly query?: Readonly<Record<string, string | undefined>> | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly body?: RequestBody | undefined;
}

/** The body of a request. A stream is sent as it is produced. */
export type RequestBody = string | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** A server's base URL, and the token and headers of every request to it. */
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
   * Sends a request and returns the response if its status is a success.
   *
   * Throws the signal's reason when it is aborted, `ProblemError` for any other status, and `ConnectionError` if there
   * is no response.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<Response> {
    const headers = await this.headers(request.headers);
    signal.throwIfAborted();
    const { method, body } = request;
    const init: RequestInit & { duplex?: "half" } = { method, headers, signal };
    if (body !== undefined) init.body = body;
    // `fetch` requires this option for a body that is a stream.
    if (body instanceof ReadableStream) init.duplex = "half";
    const url = this.resolve(request.path, request.query);
    const response = await this.receive(this.#fetch(url.href, init), signal);
    if (!response.ok) throw await readProblem(response);
    return response;
  }

  /** The URL of a path below this endpoint. */
  resolve(path?: string, query: HttpRequest["query"] = {}): URL {
    const url = new URL(this.#url);
    if (path !== undefined) url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url;
  }

  /** The headers of every request, with the token, and these. */
  async headers(more: HttpRequest["headers"] = {}): Promise<Headers> {
    const headers = new Headers(this.#headers);
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(more)) {
      if (value !== undefined) headers.set(name, value);
    }
    return headers;
  }

  /** Awaits data from the network. A failure becomes a `ConnectionError`, or the signal's reason if it was aborted. */
  async receive<T>(data: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      // Node 20 may leave the read of a body pending for ever that ends in the moment of the abort.
      return await unlessAborted(data, [signal]);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw new ConnectionError(`could not reach ${this.#url.origin}: ${describeFailure(cause)}`, { cause });
    }
  }
}

/** The message of an error; platforms often hide the useful one in its cause. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
