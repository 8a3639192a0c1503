import {
  Endpoint,
  type HttpRequest,
  onAbort,
  type ReconnectPolicy,
  type RequestBody,
  reconnectPolicy,
} from "@tombolo/acp-http-client/transport";
import type { OpenWebSocket, ServerOptions } from "../options.js";
import { onStreamEnd } from "./on-stream-end.js";
import {
  fillPath,
  type Method,
  type PathParameters,
  type QueryParameters,
  type RequestJson,
  type ResponseJson,
  type RoutePath,
  stringValues,
} from "./route.js";

type Optional<Of> = { readonly [Name in keyof Of]?: Of[Name] | undefined };

/** A request to a route. */
export interface RouteRequest<P extends RoutePath<M>, M extends Method> {
  /** Values of the placeholders in the path. */
  readonly names?: PathParameters<P, M>;
  readonly query?: Optional<QueryParameters<P, M>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** JSON body. */
  readonly json?: RequestJson<P, M>;
  /** Binary body. */
  readonly body?: RequestBody;
  readonly signal?: AbortSignal | undefined;
}

/** Typed requests to the routes of one server. */
export class RouteClient {
  readonly endpoint: Endpoint;
  readonly policy: ReconnectPolicy;
  readonly webSocket: OpenWebSocket | undefined;
  /** Cancels all requests and streams when it is aborted. */
  readonly lifetime: AbortSignal | undefined;

  constructor(options: ServerOptions) {
    const base = String(options.baseUrl).replace(/\/$/, "");
    this.endpoint = new Endpoint(new URL(base), options);
    this.policy = reconnectPolicy(options.reconnect);
    this.webSocket = options.webSocket;
    this.lifetime = options.signal;
  }

  /** Sends a request and returns the JSON of the response. */
  async json<M extends Method, P extends RoutePath<M>>(
    method: M,
    path: P,
    request: RouteRequest<P, M> = {},
  ): Promise<ResponseJson<P, M>> {
    return (await this.#send(routeRequest(method, path, request), request.signal, (response) =>
      response.json(),
    )) as ResponseJson<P, M>;
  }

  /** Sends a request whose response has no content. */
  async done<M extends Method, P extends RoutePath<M>>(
    method: M,
    path: P,
    request: RouteRequest<P, M> = {},
  ): Promise<void> {
    await this.#send(routeRequest(method, path, request), request.signal, (response) =>
      response.arrayBuffer(),
    );
  }

  /** Sends a request and returns the body as a stream. The signal also cancels the stream. */
  async stream<M extends Method, P extends RoutePath<M>>(
    method: M,
    path: P,
    request: RouteRequest<P, M> = {},
  ): Promise<{ readonly headers: Headers; readonly body: ReadableStream<Uint8Array> }> {
    const stop = new AbortController();
    const release = onAbort([request.signal, this.lifetime], (reason) => stop.abort(reason));
    try {
      const { headers, body } = await this.endpoint.send(routeRequest(method, path, request), stop.signal);
      return { headers, body: onStreamEnd(body ?? new Blob().stream(), release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #send<T>(
    request: HttpRequest,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    const release = onAbort([signal, this.lifetime], (reason) => stop.abort(reason));
    try {
      const response = await this.endpoint.send(request, stop.signal);
      return await this.endpoint.receive(read(response), stop.signal);
    } finally {
      release();
    }
  }
}

/** Turns a typed request into one for the endpoint. */
export function routeRequest<M extends Method, P extends RoutePath<M>>(
  method: M,
  path: P,
  request: RouteRequest<P, M>,
): HttpRequest {
  const { names, query, headers, json, body } = request;
  return {
    method: METHODS[method],
    path: fillPath(path, names),
    query: stringValues(query),
    headers: {
      ...stringValues(headers),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...(body === undefined ? {} : { "content-type": "application/octet-stream" }),
    },
    body: json === undefined ? body : JSON.stringify(json),
  };
}

const METHODS: Readonly<Record<Method, HttpRequest["method"]>> = {
  get: "GET",
  put: "PUT",
  post: "POST",
  delete: "DELETE",
};
