import { onAbort } from "./abort.js";
import { Backoff } from "./backoff.js";
import type { Endpoint } from "./endpoint.js";
import { BusyError, ConnectionError, ProtocolError } from "./errors.js";
import type { ResponseMessage } from "./message.js";
import type { Patience } from "./options.js";
import { ProblemError } from "./problem.js";
import { now, sleep } from "./time.js";

/** How long the server may take to say that it has a message, until it is sent again. */
const ACCEPT_MS = 30_000;

/** How slow a network may be: a large message has so much longer. */
const CHARS_PER_MS_MIN = 64;

/**
 * How long a request waits for its response before it is sent again: its connection may be dead without
 * anybody saying so. The server then says that it has it, and the response is taken from the stream.
 */
const ANSWER_MS = 60_000;

/** How many messages may wait for their turn. */
const WAITING_MAX = 1024;

/** Refusals that may be none in a moment, whoever says so. */
const PASSING = [408, 429, 503];

/** Refusals by a gateway that may reach the server in a moment. From the server itself they are final. */
const PASSING_GATEWAY = [502, 504];

/** What became of a message. */
export type Posted =
  | { readonly type: "accepted" }
  | { readonly type: "answered"; readonly eventId: number | undefined; readonly response: ResponseMessage };

/** One message, and how it is sent. */
export interface Letter {
  /** The message as it is sent, each time the same. */
  readonly body: string;
  /** Parameters of the address. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Whether the answer to it is awaited: such a message lets others pass. */
  readonly answered: boolean;
  readonly signal: AbortSignal;
  /** Whether it need not be sent again, as its response has come on the stream. */
  readonly settled: () => boolean;
}

/** Sends messages, each until it is known to have arrived, or to be refused. */
export class Outbox {
  readonly #endpoint: Endpoint;
  readonly #patience: Patience;
  /** What the keys of this client begin with; none if messages have no key. */
  readonly #name: string | undefined;
  #sent = 0;
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(endpoint: Endpoint, patience: Patience, name: string | undefined) {
    this.#endpoint = endpoint;
    this.#patience = patience;
    this.#name = name;
  }

  /** How many messages are on their way. */
  get size(): number {
    return this.#waiting;
  }

  /**
   * Sends a message. One whose answer is not awaited takes its turn: it is sent when those before it have
   * arrived, so that they arrive in order.
   */
  async send(letter: Letter): Promise<Posted> {
    if (this.#waiting >= WAITING_MAX) throw new BusyError(`${WAITING_MAX} messages wait to be sent already`);
    this.#waiting += 1;
    try {
      if (letter.answered) return await this.#persist(letter);
      const posted = this.#turn.then(() => this.#persist(letter));
      this.#turn = posted.catch(() => undefined);
      return await posted;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #persist(letter: Letter): Promise<Posted> {
    letter.signal.throwIfAborted();
    this.#sent += 1;
    const key = this.#name === undefined ? undefined : `${this.#name}-${this.#sent}`;
    const backoff = new Backoff(this.#patience.firstPauseMs, this.#patience.maxPauseMs);
    let { answered } = letter;
    let failingSince: number | undefined;
    for (;;) {
      try {
        return await this.#attempt(letter, key, answered);
      } catch (error) {
        if (letter.signal.aborted || letter.settled() || !passes(error, key !== undefined)) throw error;
        failingSince ??= now();
        const pause = backoff.next(error instanceof ProblemError ? error.retryAfterMs : undefined);
        if (now() - failingSince + pause > this.#patience.patienceMs) throw error;
        await sleep(pause, letter.signal);
        letter.signal.throwIfAborted();
        // If the server has it already, there is nobody there any more whom it could answer.
        answered &&= error instanceof ProblemError && error.documented;
      }
    }
  }

  async #attempt(letter: Letter, key: string | undefined, answered: boolean): Promise<Posted> {
    const attempt = new AbortController();
    const release = onAbort([letter.signal], (reason) => attempt.abort(reason));
    const limit = limitMs(letter, key, answered);
    const late = new ConnectionError("the server did not answer in time");
    const timer = limit === undefined ? undefined : setTimeout(() => attempt.abort(late), limit);
    try {
      return await this.#post(letter, key, answered, attempt.signal);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  async #post(
    letter: Letter,
    key: string | undefined,
    answered: boolean,
    signal: AbortSignal,
  ): Promise<Posted> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, application/problem+json",
      prefer: answered ? undefined : "respond-async",
      "idempotency-key": key,
    };
    const ask = { method: "POST", query: letter.query, headers, body: letter.body } as const;
    const response = await this.#endpoint.ask(ask, signal);
    const body = await this.#endpoint.reached(response.text(), signal);
    return response.status === 200 ? answerOf(response, body) : { type: "accepted" };
  }
}

function limitMs(letter: Letter, key: string | undefined, answered: boolean): number | undefined {
  // What cannot be sent again is waited for as long as the platform does.
  if (key === undefined) return undefined;
  return (answered ? ANSWER_MS : ACCEPT_MS) + letter.body.length / CHARS_PER_MS_MIN;
}

function answerOf(response: Response, body: string): Posted {
  const header = response.headers.get("acp-event-id");
  const eventId = header === null ? undefined : Number(header);
  try {
    return { type: "answered", eventId, response: JSON.parse(body) as ResponseMessage };
  } catch (cause) {
    throw new ProtocolError("the server's answer is not JSON", { cause });
  }
}

/** Whether what went wrong may be right in a moment, and it is safe to try. */
function passes(error: unknown, keyed: boolean): boolean {
  // Without a key, a message whose answer was lost might be handed over twice.
  if (error instanceof ConnectionError) return keyed;
  if (!(error instanceof ProblemError)) return false;
  return (
    PASSING.includes(error.status) || (!error.documented && PASSING_GATEWAY.includes(error.status) && keyed)
  );
}
