const INITIAL_DELAY_MS = 50;

/** Short enough that a restarted server is found soon. */
const MAX_DELAY_MS = 5_000;

const GIVE_UP_AFTER_MS = 60_000;

/** Three times the interval of 15 s in which servers send a heartbeat. */
const IDLE_TIMEOUT_MS = 45_000;

/** How to reconnect after a lost connection: with exponential backoff and jitter. */
export interface ReconnectOptions {
  /** Upper bound of the first delay; it doubles with each attempt. Default: 50 ms. */
  readonly initialDelayMs?: number | undefined;
  /** Upper bound of all delays. Default: 5 s. */
  readonly maxDelayMs?: number | undefined;
  /** Requests and streams fail once the server was unreachable for this time. Default: 60 s. */
  readonly giveUpAfterMs?: number | undefined;
  /** A stream without any data for this time is reconnected. Default: 45 s; servers send a heartbeat every 15 s. */
  readonly idleTimeoutMs?: number | undefined;
}

/** The address of an instance: its own URL, or the URL of its server and its id there. */
export type InstanceAddress =
  | { readonly url: string | URL; readonly baseUrl?: never; readonly serverId?: never }
  | { readonly url?: never; readonly baseUrl: string | URL; readonly serverId: string };

/** Options of every request to a server. */
export interface EndpointOptions {
  /** Bearer token, or a function that returns it for each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Headers of each request. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The URL of an instance. */
export function instanceUrl(address: InstanceAddress): URL {
  if (address.url !== undefined) return new URL(address.url);
  const base = new URL(address.baseUrl);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return new URL(`v1/acp/${encodeURIComponent(address.serverId)}`, base);
}

/** Options of an {@link AcpHttpClient}. */
export type AcpHttpClientOptions = InstanceAddress &
  EndpointOptions & {
    /**
     * The agent of the instance. The client names it with the first message, which creates the instance if it does not
     * exist, and with every `initialize`, which restarts an agent that has exited. No other message starts an agent.
     */
    readonly agent?: string | undefined;
    /** Query parameters of every message. */
    readonly query?: Readonly<Record<string, string>> | undefined;
    /** Closes the client when it is aborted. */
    readonly signal?: AbortSignal | undefined;
    /**
     * Where reading starts: after the event with this id, or after the newest event. By default `events()` starts with
     * the first event (with a gap, if the server has evicted it), and `stream()` after the newest.
     */
    readonly after?: number | "newest" | undefined;
    /**
     * Whether the server answers requests only on the stream, unless a request overrides it. For gateways that cut
     * long-running requests. Default: false.
     */
    readonly respondAsync?: boolean | undefined;
    /**
     * Whether messages carry an `Idempotency-Key`, and are sent again if their answer was lost. Default: true. Set it to
     * false for a server that does not support the header; a message whose answer was lost then fails.
     */
    readonly idempotency?: boolean | undefined;
    readonly reconnect?: ReconnectOptions | undefined;
  };

/** Reconnect options with all defaults filled in. */
export type ReconnectPolicy = { readonly [Name in keyof ReconnectOptions]-?: number };

export function reconnectPolicy(options: ReconnectOptions | undefined): ReconnectPolicy {
  return {
    initialDelayMs: options?.initialDelayMs ?? INITIAL_DELAY_MS,
    maxDelayMs: options?.maxDelayMs ?? MAX_DELAY_MS,
    giveUpAfterMs: options?.giveUpAfterMs ?? GIVE_UP_AFTER_MS,
    idleTimeoutMs: options?.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
  };
}

/** Options for sending a message. */
export interface SendOptions {
  /** Stops sending. A message that the server already has is not withdrawn. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for sending a request. */
export interface RequestOptions extends SendOptions {
  /**
   * How long to wait for the response. The agent continues after it, and its response is still an event of the stream.
   * The request fails with the problem of the server; or with a `TimeoutError`, if that was lost or the request is
   * answered on the stream.
   */
  readonly timeoutMs?: number | undefined;
  /** Whether the server answers this request only on the stream. */
  readonly respondAsync?: boolean | undefined;
}

/** Options for reading events. */
export interface EventsOptions {
  /** Ends reading with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Options for closing a client. */
export interface CloseOptions {
  /** Whether to delete the instance, which ends its agent. By default the agent continues. */
  readonly delete?: boolean | undefined;
  /** Time limit of the deletion. Default: 800 ms. */
  readonly timeoutMs?: number | undefined;
  /** How long the agent may take to exit before the server kills it. Default: half of `timeoutMs`. */
  readonly graceMs?: number | undefined;
}
