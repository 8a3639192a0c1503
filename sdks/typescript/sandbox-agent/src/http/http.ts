import {
  type Ask,
  type Body,
  Endpoint,
  onAbort,
  type Patience,
  patienceOf,
} from "@tombolo/acp-http-client/transport";
import type { OpenWebSocket, ServerOptions } from "../options.js";
import { ending } from "./body.js";
import {
  type Answer,
  filled,
  type Method,
  type Names,
  type Path,
  type Query,
  type Sent,
  written,
} from "./route.js";

type Optional<Of> = { readonly [Name in keyof Of]?: Of[Name] | undefined };

/** What is asked of a route. */
export interface Request<P extends Path<M>, M extends Method> {
  readonly names?: Names<P, M>;
  readonly query?: Optional<Query<P, M>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Sent as JSON. */
  readonly json?: Sent<P, M>;
  /** Sent as it is. */
  readonly body?: Body;
  readonly signal?: AbortSignal | undefined;
}

/** One server, and how its routes are asked. */
export class Http {
  readonly endpoint: Endpoint;
  readonly patience: Patience;
  readonly webSocket: OpenWebSocket | undefined;
  /** Ends everything when it is aborted. */
  readonly lifetime: AbortSignal | undefined;

  /** Routes are found below `prefix`: a hub has those of each runtime too. */
  constructor(options: ServerOptions, prefix = "") {
    const base = String(options.baseUrl).replace(/\/$/, "");
    this.endpoint = new Endpoint(new URL(`${base}${prefix}`), options);
    this.patience = patienceOf(options.reconnect);
    this.webSocket = options.webSocket;
    this.lifetime = options.signal;
  }

  /** The answer of a route, as JSON. */
  async json<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    request: Request<P, M> = {},
  ): Promise<Answer<P, M>> {
    return (await this.#ask(askOf(method, path, request), request.signal, (response) =>
      response.json(),
    )) as Answer<P, M>;
  }

  /** Asks a route of which nothing is wanted but that it is done. */
  async done<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    request: Request<P, M> = {},
  ): Promise<void> {
    await this.#ask(askOf(method, path, request), request.signal, (response) => response.arrayBuffer());
  }

  /** What a route gives, as it comes. The signal holds for the whole of it. */
  async stream<M extends Method, P extends Path<M>>(
    method: M,
    path: P,
    request: Request<P, M> = {},
  ): Promise<{ readonly headers: Headers; readonly body: ReadableStream<Uint8Array> }> {
    const stop = new AbortController();
    const release = onAbort([request.signal, this.lifetime], (reason) => stop.abort(reason));
    try {
      const { headers, body } = await this.endpoint.ask(askOf(method, path, request), stop.signal);
      return { headers, body: ending(body ?? new Blob().stream(), release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #ask<T>(
    ask: Ask,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    const release = onAbort([signal, this.lifetime], (reason) => stop.abort(reason));
    try {
      const response = await this.endpoint.ask(ask, stop.signal);
      return await this.endpoint.reached(read(response), stop.signal);
    } finally {
      release();
    }
  }
}

/** What goes over the wire. */
export function askOf<M extends Method, P extends Path<M>>(method: M, path: P, request: Request<P, M>): Ask {
  const { names, query, headers, json, body } = request;
  return {
    method: METHODS[method],
    path: filled(path, names),
    query: written(query),
    headers: {
      ...written(headers),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(body === undefined ? {} : { "content-type": "application/octet-stream" }),
    },
    body: json === undefined ? body : JSON.stringify(json),
  };
}

const METHODS: Readonly<Record<Method, Ask["method"]>> = {
  get: "GET",
  put: "PUT",
  post: "POST",
  delete: "DELETE",
};
