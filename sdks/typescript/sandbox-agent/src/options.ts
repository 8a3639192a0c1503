import type { EndpointOptions, ReconnectOptions } from "@tombolo/acp-http-client/transport";

/** Opens a WebSocket at an address, with these headers. */
export type OpenWebSocket = (url: string, headers: Headers) => WebSocket;

/** Which server is spoken to, and how. */
export interface ServerOptions {
  /** Where it is, such as `http://127.0.0.1:2468`. */
  readonly baseUrl: string | URL;
  /** The bearer token, or what tells it for each request. */
  readonly token?: EndpointOptions["token"];
  /** Headers that each request has. */
  readonly headers?: EndpointOptions["headers"];
  /** What requests are made with; that of the platform if left out. */
  readonly fetch?: EndpointOptions["fetch"];
  /** What WebSockets are opened with; that of the platform if left out, which in a browser carries the token only. */
  readonly webSocket?: OpenWebSocket | undefined;
  /** Ends everything when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** How a lost connection is made anew. */
  readonly reconnect?: ReconnectOptions | undefined;
}

/** How one thing is asked. */
export interface CallOptions {
  /** Gives up; what the server has begun is not taken back. */
  readonly signal?: AbortSignal | undefined;
}
