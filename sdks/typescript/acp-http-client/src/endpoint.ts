import { ConnectionError } from "./errors.js";
import type { AcpHttpClientOptions } from "./options.js";
import { problemOf } from "./problem.js";

/** What is asked of the server. */
export interface Ask {
  readonly method: "GET" | "POST" | "DELETE";
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** Where an instance is, and what every request to it has. */
export class Endpoint {
  readonly #url: URL;
  readonly #headers: Headers;
  readonly #token: AcpHttpClientOptions["token"];
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: AcpHttpClientOptions) {
    this.#url = address(options);
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
    const url = new URL(this.#url);
    for (const [name, value] of Object.entries(ask.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const headers = new Headers(this.#headers);
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    for (const [name, value] of Object.entries(ask.headers)) {
      if (value !== undefined) headers.set(name, value);
    }
    signal.throwIfAborted();
    const body = ask.body === undefined ? {} : { body: ask.body };
    const response = await this.reached(
      this.#fetch(url.href, { method: ask.method, headers, signal, ...body }),
      signal,
    );
    if (!response.ok) throw await problemOf(response);
    return response;
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

function address(options: AcpHttpClientOptions): URL {
  if (options.url !== undefined) return new URL(options.url);
  const base = new URL(options.baseUrl);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return new URL(`v1/acp/${encodeURIComponent(options.serverId)}`, base);
}

/** What went wrong; platforms hide it in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
