import { onAbort, unlessAborted } from "./abort.js";
import { Clock } from "./clock.js";
import { Consumer } from "./consumer.js";
import { Endpoint } from "./endpoint.js";
import { ClosedError, ConnectionError, GoneError } from "./errors.js";
import { Follower, type FollowerHost } from "./follower.js";
import { Inbox, type InboxHost } from "./inbox.js";
import { isRequest, type Message, type RequestMessage, type ResponseMessage } from "./message.js";
import { type AcpHttpClientOptions, addressOf, patienceOf, type RequestOptions } from "./options.js";
import { Outbox, type Posted } from "./outbox.js";
import { Pending } from "./pending.js";
import { sleep } from "./time.js";

/** How long what is under way may take to end. */
const CLOSE_MS = 500;

/**
 * How much longer than the server a client waits for a response that is late, so that the server can say so.
 */
const TIMEOUT_SLACK_MS = 1_000;

/** How a message is sent. */
interface Sending {
  /** Whether the server answers with the response. */
  readonly answered: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Whether it need not be sent again. */
  readonly settled: () => boolean;
}

/** What goes back and forth between a client and its instance. */
export class Exchange {
  readonly #options: AcpHttpClientOptions;
  readonly #endpoint: Endpoint;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  readonly #follower: Follower;
  readonly #pending = new Pending();
  readonly #clock = new Clock();
  readonly #closing = new AbortController();
  /** What goes on without anybody waiting for it. */
  readonly #background = new Set<Promise<void>>();
  /** Makes our ids and keys differ from those of everybody else. */
  readonly #name = randomName();
  #requests = 0;
  /** Where to begin to read. */
  #after: number | "newest" | undefined;
  /** Whether the instance was told its agent, or need not be. */
  #introduced = false;
  /** Does not listen to the signal of the options any more. */
  #release = (): void => {};

  constructor(options: AcpHttpClientOptions) {
    const patience = patienceOf(options.reconnect);
    const closed = this.#closing.signal;
    const name = options.idempotency === false ? undefined : this.#name;
    this.#options = options;
    this.#after = options.after;
    this.#endpoint = new Endpoint(addressOf(options), options);
    this.#outbox = new Outbox(this.#endpoint, patience, name);
    this.#inbox = new Inbox(this.#inboxHost());
    this.#follower = new Follower(this.#endpoint, patience, this.#clock, closed, this.#followerHost());
    this.#release = onAbort([options.signal], () => void this.close());
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Begins to read there, unless it is said already where to begin. */
  begin(after: number | "newest"): void {
    this.#after ??= after;
    if (this.#after !== "newest") this.#follower.begin(this.#after);
  }

  /** Whoever reads what the agent says. */
  consumer(signal: AbortSignal | undefined): Consumer {
    return new Consumer(this.#inbox, signal);
  }

  /** Sends a message, and waits until the server has it. */
  async send(message: Message, signal: AbortSignal | undefined): Promise<void> {
    const signals = [signal, this.#closing.signal];
    await unlessAborted(this.#post(message, { answered: false, signals, settled: () => false }), signals);
  }

  /** Sends a request, and waits for its response. */
  async request(method: string, params: unknown, options: RequestOptions): Promise<ResponseMessage> {
    this.#requests += 1;
    const id = `${this.#name}-${this.#requests}`;
    const response = this.#pending.wait(id, this.#clock.tick());
    const abandoned = new AbortController();
    const abandon = (reason: unknown): void => {
      this.#pending.reject(id, reason);
      abandoned.abort(reason);
    };
    const release = onAbort([options.signal, this.#closing.signal], abandon);
    const timer = timerOf(options, abandon);
    this.#spawn(this.#ask({ jsonrpc: "2.0", id, method, params }, options, abandoned.signal));
    try {
      return await response;
    } finally {
      clearTimeout(timer);
      release();
      this.#stopUnlessWanted();
    }
  }

  /** Ends everything that goes on. */
  async close(): Promise<void> {
    this.#release();
    this.#closing.abort(new ClosedError());
    this.#inbox.close();
    const ended = new AbortController();
    const work = Promise.all([this.#follower.stop(), ...this.#background]).finally(() => ended.abort());
    // A `fetch` that does not heed its signal is not waited for.
    await Promise.race([work, sleep(CLOSE_MS, ended.signal)]);
  }

  /** Deletes the instance, whose agent has some time to end by itself. */
  async delete(timeoutMs: number, graceMs: number): Promise<void> {
    const limit = new AbortController();
    const late = new ConnectionError(
      `the server did not say within ${timeoutMs} ms that the instance is deleted`,
    );
    const timer = setTimeout(() => limit.abort(late), timeoutMs);
    try {
      await this.#endpoint.ask({ method: "DELETE", query: { graceMs: String(graceMs) } }, limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends a request, and tells those who wait what became of it. */
  async #ask(
    message: RequestMessage & { readonly id: string },
    options: RequestOptions,
    abandoned: AbortSignal,
  ): Promise<void> {
    const { id } = message;
    const answered = !options.respondAsync;
    const timeoutMs = answered ? options.timeoutMs : undefined;
    const signals = [abandoned, this.#closing.signal];
    const settled = (): boolean => !this.#pending.has(id);
    try {
      this.#posted(id, await this.#post(message, { answered, timeoutMs, signals, settled }));
    } catch (error) {
      this.#pending.reject(id, error);
    }
  }

  #posted(id: string, posted: Posted): void {
    if (posted.type === "accepted") {
      this.#pending.accept(id, this.#clock.tick());
    } else if (posted.eventId === undefined || !this.#inbox.consumed) {
      this.#pending.resolve(id, posted.response);
    } else {
      this.#pending.answer(id, posted.eventId, posted.response);
    }
    this.#follower.wake();
  }

  async #post(message: Message, { answered, timeoutMs, signals, settled }: Sending): Promise<Posted> {
    const stop = new AbortController();
    const release = onAbort(signals, (reason) => stop.abort(reason));
    const { signal } = stop;
    try {
      this.begin(0);
      await unlessAborted(this.#follower.locate(), [signal]);
      const names = !this.#introduced || (isRequest(message) && message.method === "initialize");
      const agent = names ? this.#options.agent : undefined;
      const query = { ...this.#options.query, agent, timeoutMs: timeoutMs?.toString() };
      const posting = this.#outbox.send({ body: JSON.stringify(message), query, answered, signal, settled });
      // What the agent says can be read before the message is answered.
      this.#follower.wake();
      const posted = await posting;
      this.#introduced = true;
      this.#follower.known();
      return posted;
    } finally {
      release();
    }
  }

  #spawn(work: Promise<void>): void {
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  #wants(): boolean {
    return !this.closed && (this.#inbox.consumed || this.#pending.accepted > 0);
  }

  #stopUnlessWanted(): void {
    if (!this.#wants()) this.#spawn(this.#follower.stop());
  }

  #fail(reason: unknown): void {
    const reached = (): void => this.#pending.fail(reason, Number.POSITIVE_INFINITY);
    this.#inbox.push({ type: "failure", reason, reached });
  }

  #inboxHost(): InboxHost {
    return {
      heard: (message) => this.#pending.heard(message),
      listens: () => this.#pending.size > 0,
      attached: () => this.#follower.wake(),
      detached: () => {
        this.#pending.release();
        this.#stopUnlessWanted();
      },
    };
  }

  #followerHost(): FollowerHost {
    const pending = this.#pending;
    return {
      onNews: (news) => {
        if (news.type === "message") return this.#inbox.push(news);
        const { event, another } = news;
        const at = this.#clock.tick();
        const reached = (): void => {
          if (event.type === "gap") pending.gap(event, another, at);
        };
        this.#inbox.push({ type: "control", event, reached });
      },
      onEnded: (exit, at) => this.#inbox.push({ type: "mark", reached: () => pending.exited(exit, at) }),
      onGone: (problem, at) => {
        const reached = (): void => pending.fail(new GoneError({ cause: problem }), at);
        this.#inbox.push({ type: "control", event: { type: "gone" }, reached });
      },
      onAbsent: (problem) => {
        // A message that is yet to be sent makes the instance.
        if (this.#options.agent === undefined) this.#fail(problem);
      },
      onFailure: (reason) => this.#fail(reason),
      room: () => this.#inbox.room(),
      wants: () => this.#wants(),
      awaits: () => pending.accepted > 0,
      sends: () => this.#outbox.size > 0,
    };
  }
}

/** Gives up when the response is late. */
function timerOf(
  { timeoutMs, respondAsync }: RequestOptions,
  abandon: (reason: unknown) => void,
): ReturnType<typeof setTimeout> | undefined {
  if (timeoutMs === undefined) return undefined;
  const reason = new DOMException(`there was no response within ${timeoutMs} ms`, "TimeoutError");
  return setTimeout(() => abandon(reason), timeoutMs + (respondAsync ? 0 : TIMEOUT_SLACK_MS));
}

/** A name that nobody else has. */
function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
