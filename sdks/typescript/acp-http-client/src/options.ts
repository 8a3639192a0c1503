/** How long the first pause before a new try may be. */
const FIRST_PAUSE_MS = 50;

/** The longest pause: a server that is back shall be found soon. */
const MAX_PAUSE_MS = 5_000;

/** How long a server that cannot be reached is tried for. */
const PATIENCE_MS = 60_000;

/** A server says something every 15 s. One that is silent for three times as long is gone. */
const SILENCE_MS = 45_000;

/** How a lost connection is made anew. */
export interface ReconnectOptions {
  /** The most that the first pause may last; doubled with each try after it. 50 ms if left out. */
  readonly firstPauseMs?: number | undefined;
  /** The longest pause. 5 s if left out. */
  readonly maxPauseMs?: number | undefined;
  /**
   * How long a server that cannot be reached is tried for, until what waits for it fails. 60 s if left out.
   */
  readonly patienceMs?: number | undefined;
  /**
   * How long a connection may be silent until it is taken for dead. 45 s if left out: servers say something
   * every 15 s.
   */
  readonly silenceMs?: number | undefined;
}

/** Which instance is spoken to: by its own address, or by that of its server and its id there. */
export type InstanceAddress =
  | { readonly url: string | URL; readonly baseUrl?: never; readonly serverId?: never }
  | { readonly url?: never; readonly baseUrl: string | URL; readonly serverId: string };

/** What every request to a server has. */
export interface EndpointOptions {
  /** The bearer token, or what tells it for each request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Headers that each request has. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** What requests are made with; that of the platform if left out. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The address of an instance. */
export function addressOf(address: InstanceAddress): URL {
  if (address.url !== undefined) return new URL(address.url);
  const base = new URL(address.baseUrl);
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return new URL(`v1/acp/${encodeURIComponent(address.serverId)}`, base);
}

/** How an instance is spoken to. */
export type AcpHttpClientOptions = InstanceAddress &
  EndpointOptions & {
    /**
     * The agent that the instance runs. It is named with the first message, which makes the instance if there
     * is none, and with every `initialize`, which starts an agent anew that has ended. Nothing else starts an
     * agent.
     */
    readonly agent?: string | undefined;
    /** Parameters that the address of each message has. */
    readonly query?: Readonly<Record<string, string>> | undefined;
    /** Closes the client when it is aborted. */
    readonly signal?: AbortSignal | undefined;
    /**
     * Where to begin to read: after the event with this id, or after all that was said before. If left out,
     * everything is read, and it begins with a gap if the first is no longer kept; `stream()` then begins after
     * all that was said before.
     */
    readonly after?: number | "newest" | undefined;
    /**
     * Whether requests are answered on the stream only, unless one says otherwise: for gateways that cut long
     * requests.
     */
    readonly respondAsync?: boolean | undefined;
    /**
     * Whether messages carry an `Idempotency-Key`, and are sent again when their answer was lost. True if left
     * out; for a server that does not know the header it must be false, and a message whose answer was lost
     * fails.
     */
    readonly idempotency?: boolean | undefined;
    /** How a lost connection is made anew. */
    readonly reconnect?: ReconnectOptions | undefined;
  };

/** How a lost connection is made anew, with nothing left out. */
export type Patience = { readonly [Name in keyof ReconnectOptions]-?: number };

/** What was asked for, and what holds for the rest. */
export function patienceOf(options: ReconnectOptions | undefined): Patience {
  return {
    firstPauseMs: options?.firstPauseMs ?? FIRST_PAUSE_MS,
    maxPauseMs: options?.maxPauseMs ?? MAX_PAUSE_MS,
    patienceMs: options?.patienceMs ?? PATIENCE_MS,
    silenceMs: options?.silenceMs ?? SILENCE_MS,
  };
}

/** How one message is sent. */
export interface SendOptions {
  /** Gives up. What the server has of the message is not taken back. */
  readonly signal?: AbortSignal | undefined;
}

/** How one request is sent. */
export interface RequestOptions extends SendOptions {
  /**
   * How long to wait for the response. The agent goes on, and its response is on the stream. It fails with
   * the problem that the server answers with, or with a `TimeoutError` if that was lost or the response is on
   * the stream only.
   */
  readonly timeoutMs?: number | undefined;
  /** Whether it is answered on the stream only. */
  readonly respondAsync?: boolean | undefined;
}

/** How events are read. */
export interface EventsOptions {
  /** Ends the reading with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How a client is closed. */
export interface CloseOptions {
  /** Deletes the instance too, which ends its agent. Left out, the agent goes on with what it does. */
  readonly delete?: boolean | undefined;
  /** How long that may take; closing itself takes no time. 800 ms if left out. */
  readonly timeoutMs?: number | undefined;
  /** How long the agent may take to end by itself before the server kills it. Half of `timeoutMs` if left out. */
  readonly graceMs?: number | undefined;
}
