import type { EndpointOptions, ReconnectOptions } from "@tombolo/acp-http-client/transport";

/** Opens a WebSocket with these headers. */
export type OpenWebSocket = (url: string, headers: Headers) => WebSocket;

/** A server and how to reach it. */
export interface ServerOptions {
  /** URL of the server, such as `http://127.0.0.1:2468`. */
  readonly baseUrl: string | URL;
  /** Bearer token, or a function that returns it for each request. */
  readonly token?: EndpointOptions["token"];
  /** Headers of each request. */
  readonly headers?: EndpointOptions["headers"];
  /** Replaces the global `fetch`. */
  readonly fetch?: EndpointOptions["fetch"];
  /** Replaces the global `WebSocket`. The one of a browser can carry the token and the page key, but no other header. */
  readonly webSocket?: OpenWebSocket | undefined;
  /** Cancels all requests and streams when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** How to reconnect after a lost connection. */
  readonly reconnect?: ReconnectOptions | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call. Effects on the server are not undone. */
  readonly signal?: AbortSignal | undefined;
}
