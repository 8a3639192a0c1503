import { onAbort } from "./abort.js";
import { Backoff } from "./backoff.js";
import type { Endpoint } from "./endpoint.js";
import { BusyError, ConnectionError, ProtocolError } from "./errors.js";
import type { RpcResponse } from "./message.js";
import type { ReconnectPolicy } from "./options.js";
import { ProblemError } from "./problem.js";
import { now, sleep } from "./time.js";

/** How long the server may take to accept a message before the message is sent again. */
const ACCEPT_TIMEOUT_MS = 30_000;

/** The slowest upload that is assumed: timeouts are extended by the size of the message divided by this. */
const UPLOAD_CHARS_PER_MS = 64;

/**
 * How long a request waits for the HTTP answer before it is sent again, as its connection may be dead without either
 * side noticing. The server then recognises the key and answers that it has the request, and the response is read
 * from the stream.
 */
const ANSWER_TIMEOUT_MS = 60_000;

/** How many messages may be queued or under way. */
const MESSAGES_MAX = 1024;

/** Statuses after which a message can be sent again, from the server as well as from a gateway. */
const TRANSIENT_STATUSES = [408, 429, 503];

/** Statuses of a gateway that could not reach the server. The server itself means them to be final. */
const TRANSIENT_GATEWAY_STATUSES = [502, 504];

/** The server's answer to a message. */
export type PostResult =
  | { readonly type: "accepted" }
  | { readonly type: "answered"; readonly eventId: number | undefined; readonly response: RpcResponse };

/** A message to send. */
export interface OutgoingMessage {
  /** The message as JSON, the same for every attempt. */
  readonly body: string;
  /** Query parameters. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Whether the HTTP answer is the response to a request. Such a message does not delay those after it. */
  readonly answered: boolean;
  readonly signal: AbortSignal;
  /** Whether the message must not be sent again, because its response has come on the stream. */
  readonly settled: () => boolean;
}

/** Sends messages, each until the server has accepted or rejected it. */
export class Outbox {
  readonly #endpoint: Endpoint;
  readonly #policy: ReconnectPolicy;
  /** Prefix of the idempotency keys of this client; `undefined` if messages have no key. */
  readonly #keyPrefix: string | undefined;
  #sent = 0;
  #underWay = 0;
  #lastInOrder: Promise<unknown> = Promise.resolve();

  constructor(endpoint: Endpoint, policy: ReconnectPolicy, keyPrefix: string | undefined) {
    this.#endpoint = endpoint;
    this.#policy = policy;
    this.#keyPrefix = keyPrefix;
  }

  /** How many messages are queued or under way. */
  get size(): number {
    return this.#underWay;
  }

  /**
   * Sends a message. Messages that are not answered by a response are sent one at a time, so that they arrive in order.
   */
  async send(message: OutgoingMessage): Promise<PostResult> {
    if (this.#underWay >= MESSAGES_MAX) {
      throw new BusyError(`${MESSAGES_MAX} messages are waiting to be sent already`);
    }
    this.#underWay += 1;
    try {
      if (message.answered) return await this.#sendWithRetries(message);
      const posted = this.#lastInOrder.then(() => this.#sendWithRetries(message));
      this.#lastInOrder = posted.catch(() => undefined);
      return await posted;
    } finally {
      this.#underWay -= 1;
    }
  }

  async #sendWithRetries(message: OutgoingMessage): Promise<PostResult> {
    message.signal.throwIfAborted();
    this.#sent += 1;
    const key = this.#keyPrefix === undefined ? undefined : `${this.#keyPrefix}-${this.#sent}`;
    const backoff = new Backoff(this.#policy.initialDelayMs, this.#policy.maxDelayMs);
    let { answered } = message;
    let failingSince: number | undefined;
    for (;;) {
      try {
        return await this.#attempt(message, key, answered);
      } catch (error) {
        if (message.signal.aborted || message.settled() || !canRetry(error, key !== undefined)) throw error;
        failingSince ??= now();
        const delay = backoff.next(error instanceof ProblemError ? error.retryAfterMs : undefined);
        if (now() - failingSince + delay > this.#policy.giveUpAfterMs) throw error;
        await sleep(delay, message.signal);
        message.signal.throwIfAborted();
        // The first attempt may have reached the server, which then holds the request open for a connection that is
        // gone. The next attempt only asks for acceptance, and the stream brings the response.
        answered &&= error instanceof ProblemError && error.documented;
      }
    }
  }

  async #attempt(message: OutgoingMessage, key: string | undefined, answered: boolean): Promise<PostResult> {
    const attempt = new AbortController();
    const release = onAbort([message.signal], (reason) => attempt.abort(reason));
    const timeout = timeoutMs(message, key, answered);
    const late = new ConnectionError("the server did not answer in time");
    const timer = timeout === undefined ? undefined : setTimeout(() => attempt.abort(late), timeout);
    try {
      return await this.#post(message, key, answered, attempt.signal);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  async #post(
    message: OutgoingMessage,
    key: string | undefined,
    answered: boolean,
    signal: AbortSignal,
  ): Promise<PostResult> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, application/problem+json",
      prefer: answered ? undefined : "respond-async",
      "idempotency-key": key,
    };
    const request = { method: "POST", query: message.query, headers, body: message.body } as const;
    const response = await this.#endpoint.send(request, signal);
    const body = await this.#endpoint.receive(response.text(), signal);
    return response.status === 200 ? parseAnswer(response, body) : { type: "accepted" };
  }
}

function timeoutMs(message: OutgoingMessage, key: string | undefined, answered: boolean): number | undefined {
  // Without a key the message cannot be sent again, so giving up early would gain nothing.
  if (key === undefined) return undefined;
  return (answered ? ANSWER_TIMEOUT_MS : ACCEPT_TIMEOUT_MS) + message.body.length / UPLOAD_CHARS_PER_MS;
}

function parseAnswer(response: Response, body: string): PostResult {
  const header = response.headers.get("acp-event-id");
  const eventId = header === null ? undefined : Number(header);
  try {
    return { type: "answered", eventId, response: JSON.parse(body) as RpcResponse };
  } catch (cause) {
    throw new ProtocolError("the server's answer is not JSON", { cause });
  }
}

/** Whether sending again may succeed and cannot deliver the message twice. */
function canRetry(error: unknown, keyed: boolean): boolean {
  // The server may have the message although its answer was lost; only the key prevents that it is delivered twice.
  if (error instanceof ConnectionError) return keyed;
  if (!(error instanceof ProblemError)) return false;
  return (
    TRANSIENT_STATUSES.includes(error.status) ||
    (keyed && !error.documented && TRANSIENT_GATEWAY_STATUSES.includes(error.status))
  );
}
