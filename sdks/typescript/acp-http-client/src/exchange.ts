import { onAbort, unlessAborted } from "./abort.js";
import { Endpoint } from "./endpoint.js";
import { ClosedError, ConnectionError, GoneError } from "./errors.js";
import { EventReader } from "./event-reader.js";
import { Inbox, type InboxHost } from "./inbox.js";
import { LogicalClock } from "./logical-clock.js";
import { isRequest, type RpcMessage, type RpcRequest, type RpcResponse } from "./message.js";
import { type AcpHttpClientOptions, instanceUrl, type RequestOptions, reconnectPolicy } from "./options.js";
import { Outbox, type PostResult } from "./outbox.js";
import { PendingRequests } from "./pending-requests.js";
import { randomId } from "./random-id.js";
import { StreamFollower, type StreamFollowerHost } from "./stream-follower.js";
import { sleep } from "./time.js";

/** How long `close` waits for running work to end. */
const CLOSE_TIMEOUT_MS = 500;

/** How much longer than the server the client waits for a late response, so that the server's problem arrives first. */
const TIMEOUT_SLACK_MS = 1_000;

/** How a message is posted. */
interface PostOptions {
  /** Whether the HTTP answer is the response. */
  readonly answered: boolean;
  readonly timeoutMs?: number | undefined;
  readonly signals: readonly (AbortSignal | undefined)[];
  /** Whether the message must not be sent again. */
  readonly settled: () => boolean;
}

/** The traffic between a client and its instance: connects outbox, stream, inbox and pending requests. */
export class Exchange {
  readonly #options: AcpHttpClientOptions;
  readonly #endpoint: Endpoint;
  readonly #outbox: Outbox;
  readonly #inbox: Inbox;
  readonly #follower: StreamFollower;
  readonly #pending = new PendingRequests();
  readonly #clock = new LogicalClock();
  readonly #closing = new AbortController();
  /** Work that no caller awaits. */
  readonly #background = new Set<Promise<void>>();
  /** Prefix of request ids and idempotency keys, which must differ from those of other clients. */
  readonly #clientId = randomId();
  #requests = 0;
  /** Where reading starts. */
  #after: number | "newest" | undefined;
  /** Whether the server has accepted a message, so that the instance knows its agent. */
  #agentNamed = false;
  /** Stops listening to the signal of the options. */
  #release = (): void => {};

  constructor(options: AcpHttpClientOptions) {
    const policy = reconnectPolicy(options.reconnect);
    const closed = this.#closing.signal;
    const keyPrefix = options.idempotency === false ? undefined : this.#clientId;
    this.#options = options;
    this.#after = options.after;
    this.#endpoint = new Endpoint(instanceUrl(options), options);
    this.#outbox = new Outbox(this.#endpoint, policy, keyPrefix);
    this.#inbox = new Inbox(this.#inboxHost());
    this.#follower = new StreamFollower(this.#endpoint, policy, this.#clock, closed, this.#followerHost());
    this.#release = onAbort([options.signal], () => void this.close());
  }

  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Sets where reading starts, unless the options or an earlier call did. */
  startAt(after: number | "newest"): void {
    this.#after ??= after;
    if (this.#after !== "newest") this.#follower.startAfter(this.#after);
  }

  reader(signal: AbortSignal | undefined): EventReader {
    return new EventReader(this.#inbox, signal);
  }

  /** Sends a message. Resolves once the server has it. */
  async send(message: RpcMessage, signal: AbortSignal | undefined): Promise<void> {
    const signals = [signal, this.#closing.signal];
    await unlessAborted(this.#post(message, { answered: false, signals, settled: () => false }), signals);
  }

  /** Sends a request and waits for its response. */
  async request(method: string, params: unknown, options: RequestOptions): Promise<RpcResponse> {
    this.#requests += 1;
    const id = `${this.#clientId}-${this.#requests}`;
    const response = this.#pending.wait(id, this.#clock.tick());
    const abandoned = new AbortController();
    const abandon = (reason: unknown): void => {
      this.#pending.reject(id, reason);
      abandoned.abort(reason);
    };
    const release = onAbort([options.signal, this.#closing.signal], abandon);
    const timer = startTimeout(options, abandon);
    this.#spawn(this.#postRequest({ jsonrpc: "2.0", id, method, params }, options, abandoned.signal));
    try {
      return await response;
    } finally {
      clearTimeout(timer);
      release();
      this.#stopReadingIfUnneeded();
    }
  }

  /** Ends all requests, the reader and the stream. */
  async close(): Promise<void> {
    this.#release();
    this.#closing.abort(new ClosedError());
    this.#inbox.close();
    const ended = new AbortController();
    const work = Promise.all([this.#follower.stop(), ...this.#background]).finally(() => ended.abort());
    // A custom `fetch` may ignore its signal, so there is a time limit.
    await Promise.race([work, sleep(CLOSE_TIMEOUT_MS, ended.signal)]);
  }

  /** Deletes the instance. The server kills its agent if it does not exit within `graceMs`. */
  async delete(timeoutMs: number, graceMs: number): Promise<void> {
    const limit = new AbortController();
    const late = new ConnectionError(`the server did not confirm the deletion within ${timeoutMs} ms`);
    const timer = setTimeout(() => limit.abort(late), timeoutMs);
    try {
      await this.#endpoint.send({ method: "DELETE", query: { graceMs: String(graceMs) } }, limit.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Posts a request and settles it, unless its response has yet to come on the stream. */
  async #postRequest(
    message: RpcRequest & { readonly id: string },
    options: RequestOptions,
    abandoned: AbortSignal,
  ): Promise<void> {
    const { id } = message;
    const answered = !options.respondAsync;
    const timeoutMs = answered ? options.timeoutMs : undefined;
    const signals = [abandoned, this.#closing.signal];
    const settled = (): boolean => !this.#pending.has(id);
    try {
      this.#onPosted(id, await this.#post(message, { answered, timeoutMs, signals, settled }));
    } catch (error) {
      this.#pending.reject(id, error);
    }
  }

  #onPosted(id: string, posted: PostResult): void {
    if (posted.type === "accepted") {
      this.#pending.onAccepted(id, this.#clock.tick());
    } else if (posted.eventId === undefined || !this.#inbox.hasReader) {
      this.#pending.resolve(id, posted.response);
    } else {
      this.#pending.onAnswered(id, posted.eventId, posted.response);
    }
    this.#follower.wake();
  }

  async #post(
    message: RpcMessage,
    { answered, timeoutMs, signals, settled }: PostOptions,
  ): Promise<PostResult> {
    const stop = new AbortController();
    const release = onAbort(signals, (reason) => stop.abort(reason));
    const { signal } = stop;
    try {
      this.startAt(0);
      await unlessAborted(this.#follower.locate(), [signal]);
      const namesAgent = !this.#agentNamed || (isRequest(message) && message.method === "initialize");
      const agent = namesAgent ? this.#options.agent : undefined;
      const query = { ...this.#options.query, agent, timeoutMs: timeoutMs?.toString() };
      const posting = this.#outbox.send({ body: JSON.stringify(message), query, answered, signal, settled });
      // The agent may send events before it answers the message.
      this.#follower.wake();
      const posted = await posting;
      this.#agentNamed = true;
      this.#follower.onInstanceExists();
      return posted;
    } finally {
      release();
    }
  }

  #spawn(work: Promise<void>): void {
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  #needsStream(): boolean {
    return !this.closed && (this.#inbox.hasReader || this.#pending.accepted > 0);
  }

  #stopReadingIfUnneeded(): void {
    if (!this.#needsStream()) this.#spawn(this.#follower.stop());
  }

  #failStream(reason: unknown): void {
    const reached = (): void => this.#pending.onStreamFailed(reason, Number.POSITIVE_INFINITY);
    this.#inbox.push({ type: "failure", reason, reached });
  }

  #inboxHost(): InboxHost {
    return {
      onMessage: (message) => this.#pending.onMessage(message),
      needsMessages: () => this.#pending.size > 0,
      onReaderAttached: () => this.#follower.wake(),
      onReaderDetached: () => {
        this.#pending.releaseAnswered();
        this.#stopReadingIfUnneeded();
      },
    };
  }

  #followerHost(): StreamFollowerHost {
    const pending = this.#pending;
    return {
      onEvent: (newEvent) => {
        if (newEvent.type === "message") return this.#inbox.push(newEvent);
        const { event, foreign } = newEvent;
        const at = this.#clock.tick();
        const reached = (): void => {
          if (event.type === "gap") pending.onGap(event, foreign, at);
        };
        this.#inbox.push({ type: "control", event, reached });
      },
      onExited: (exit, at) => this.#inbox.push({ type: "mark", reached: () => pending.onExited(exit, at) }),
      onGone: (problem, at) => {
        const reached = (): void => pending.onStreamFailed(new GoneError({ cause: problem }), at);
        this.#inbox.push({ type: "control", event: { type: "gone" }, reached });
      },
      onAbsent: (problem) => {
        // With an agent, the next message creates the instance.
        if (this.#options.agent === undefined) this.#failStream(problem);
      },
      onFailure: (reason) => this.#failStream(reason),
      room: () => this.#inbox.room(),
      needsStream: () => this.#needsStream(),
      awaitsResponse: () => pending.accepted > 0,
      isSending: () => this.#outbox.size > 0,
    };
  }
}

/** Abandons a request whose response is late. */
function startTimeout(
  { timeoutMs, respondAsync }: RequestOptions,
  abandon: (reason: unknown) => void,
): ReturnType<typeof setTimeout> | undefined {
  if (timeoutMs === undefined) return undefined;
  const reason = new DOMException(`there was no response within ${timeoutMs} ms`, "TimeoutError");
  return setTimeout(() => abandon(reason), timeoutMs + (respondAsync ? 0 : TIMEOUT_SLACK_MS));
}
