import { onAbort, unlessAborted } from "./abort.js";
import { Backoff } from "./backoff.js";
import type { Endpoint } from "./endpoint.js";
import { ConnectionError, ProtocolError } from "./errors.js";
import { readEventStream } from "./event-stream.js";
import { controlEvent, type ExitedEvent } from "./events.js";
import type { LogicalClock } from "./logical-clock.js";
import type { ReconnectPolicy } from "./options.js";
import { ProblemError } from "./problem.js";
import { type NewEvent, StreamPosition } from "./stream-position.js";
import { now, sleep } from "./time.js";
import { isTransient } from "./transient.js";

/** A connection that lasted this long counts as a success, even without an event: the backoff starts again. */
const STABLE_CONNECTION_MS = 10_000;

/** An event id that never exists. Reading after it makes the server answer with a gap that names its newest event. */
const FUTURE_EVENT_ID: number = Number.MAX_SAFE_INTEGER;

/** The callbacks of a follower. The `at` of a callback is a tick of the client's clock. */
export interface StreamFollowerHost {
  onEvent(event: NewEvent): void;
  /** The agent exited. It will not answer what it accepted before `at`. */
  onExited(exit: ExitedEvent, at: number): void;
  /** The instance no longer exists. It will not answer what it accepted before `at`. */
  onGone(problem: ProblemError, at: number): void;
  /** The instance does not exist yet, and no message that could create it is under way. */
  onAbsent(problem: ProblemError): void;
  /** The stream cannot be read. */
  onFailure(reason: unknown): void;
  /** Returns a promise if no more is to be read until it resolves. */
  room(): Promise<void> | undefined;
  /** Whether anything in the client needs the stream. */
  needsStream(): boolean;
  /** Whether a request can only be answered by the stream. */
  awaitsResponse(): boolean;
  /** Whether a message is under way, which may create the instance. */
  isSending(): boolean;
}

/** How a connection ended. */
type ConnectionEnd =
  | { readonly type: "exited"; readonly exit: ExitedEvent }
  | { readonly type: "cut"; readonly reason: unknown };

/**
 * Reads the stream of one instance across lost connections: each event once, in order. It stops when nothing in the
 * client needs the stream, or when there is nothing to read, until `wake` is called.
 */
export class StreamFollower {
  readonly #endpoint: Endpoint;
  readonly #policy: ReconnectPolicy;
  readonly #clock: LogicalClock;
  readonly #closed: AbortSignal;
  readonly #host: StreamFollowerHost;
  /** `undefined` until it is known where to start. */
  #position: StreamPosition | undefined;
  #locating: Promise<void> | undefined;
  /** Tick at which the instance was last known to exist; 0 if it never was. */
  #existedAt = 0;
  #reading: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  /** Whether `wake` was called since the last connection was opened. */
  #woken = false;
  /** Time of the last sign of life of the server. */
  #lastActivityAt = 0;
  /** Ends the delay before the next connection. */
  #skipDelay: AbortController | undefined;

  constructor(
    endpoint: Endpoint,
    policy: ReconnectPolicy,
    clock: LogicalClock,
    closed: AbortSignal,
    host: StreamFollowerHost,
  ) {
    this.#closed = closed;
    this.#endpoint = endpoint;
    this.#policy = policy;
    this.#clock = clock;
    this.#host = host;
  }

  /** Sets where reading starts, unless it is set already. */
  startAfter(eventId: number): void {
    this.#position ??= new StreamPosition(eventId);
  }

  /** Sets the start to the newest event, unless it is set already. Must be done before a message is sent. */
  async locate(): Promise<void> {
    if (this.#position !== undefined) return;
    this.#locating ??= this.#startAfterNewest().finally(() => {
      this.#locating = undefined;
    });
    await this.#locating;
  }

  /** The server has accepted a message, so the instance exists and the next connection need not be delayed. */
  onInstanceExists(): void {
    this.#existedAt = this.#clock.tick();
    this.#skipDelay?.abort();
  }

  /** Starts to read, if anything needs the stream. Must be called whenever there may be something new to read. */
  wake(): void {
    this.#woken = true;
    if (this.#reading !== undefined || !this.#host.needsStream()) return;
    const stop = new AbortController();
    this.#reading = { stop, done: this.#run(stop.signal).finally(() => this.#onStopped(stop)) };
  }

  /** Stops reading. A later `wake` continues at the same position. */
  async stop(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    reading?.stop.abort();
    await reading?.done;
  }

  #onStopped(stop: AbortController): void {
    if (this.#reading?.stop === stop) this.#reading = undefined;
  }

  async #startAfterNewest(): Promise<void> {
    const backoff = this.#backoff();
    const since = now();
    while (this.#position === undefined) {
      try {
        this.startAfter(await this.#readNewestId());
      } catch (error) {
        const delay = backoff.next();
        const givesUp = now() - since + delay > this.#policy.giveUpAfterMs;
        if (this.#closed.aborted || !isTransient(error) || givesUp) throw error;
        await sleep(delay, this.#closed);
      }
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = this.#backoff();
    this.#lastActivityAt = now();
    try {
      await unlessAborted(this.locate(), [signal]);
      while (!signal.aborted && this.#host.needsStream()) {
        if (!(await this.#readConnection(backoff, signal))) return;
      }
    } catch (error) {
      if (!signal.aborted) this.#host.onFailure(error);
    }
  }

  /** Reads one connection to its end. Returns whether to open another. */
  async #readConnection(backoff: Backoff, signal: AbortSignal): Promise<boolean> {
    this.#woken = false;
    const at = this.#clock.tick();
    const openedAt = now();
    const end = await this.#connect(at, backoff, signal);
    if (signal.aborted) return false;
    if (now() - openedAt >= STABLE_CONNECTION_MS) backoff.reset();
    if (end.type === "exited") {
      this.#host.onExited(end.exit, at);
      // A message accepted since then may have restarted the agent, which answers on the next connection.
      if (!this.#hasMoreToRead()) return false;
    } else if (isNotFound(end.reason)) {
      if (!this.#onNotFound(end.reason, at)) return false;
    } else if (!isTransient(end.reason) || now() - this.#lastActivityAt > this.#policy.giveUpAfterMs) {
      throw end.reason;
    }
    const problem = end.type === "cut" && end.reason instanceof ProblemError ? end.reason : undefined;
    await this.#delay(backoff.next(problem?.retryAfterMs), signal);
    return true;
  }

  async #connect(at: number, backoff: Backoff, signal: AbortSignal): Promise<ConnectionEnd> {
    const position = this.#position ?? new StreamPosition(0);
    position.onConnected();
    try {
      await readEventStream({
        endpoint: this.#endpoint,
        after: position.lastId,
        idleTimeoutMs: this.#policy.idleTimeoutMs,
        signal,
        onActivity: () => {
          this.#lastActivityAt = now();
          this.#existedAt = Math.max(this.#existedAt, at);
        },
        onEvent: (event) => {
          backoff.reset();
          const newEvent = position.advance(event);
          if (newEvent !== undefined) this.#host.onEvent(newEvent);
        },
        room: () => this.#host.room(),
      });
    } catch (reason) {
      return { type: "cut", reason };
    }
    if (position.exit !== undefined) return { type: "exited", exit: position.exit };
    return { type: "cut", reason: new ConnectionError("the server ended the stream") };
  }

  /** The instance did not exist for the connection that was opened at `at`. Returns whether to try again. */
  #onNotFound(problem: ProblemError, at: number): boolean {
    // A message has created the instance meanwhile.
    if (this.#existedAt > at) return true;
    if (this.#existedAt === 0) {
      if (this.#woken || this.#host.isSending()) return true;
      this.#host.onAbsent(problem);
      return false;
    }
    this.#existedAt = 0;
    this.#position = new StreamPosition(0);
    this.#host.onGone(problem, at);
    return this.#hasMoreToRead();
  }

  /** Waits before the next connection, until a message shows that the server is reachable. */
  async #delay(ms: number, signal: AbortSignal): Promise<void> {
    const skip = new AbortController();
    const release = onAbort([signal], () => skip.abort());
    this.#skipDelay = skip;
    await sleep(ms, skip.signal);
    release();
  }

  #hasMoreToRead(): boolean {
    return this.#woken || this.#host.awaitsResponse();
  }

  /** The id of the newest event; 0 if the instance does not exist yet. */
  async #readNewestId(): Promise<number> {
    const probe = new AbortController();
    const release = onAbort([this.#closed], (reason) => probe.abort(reason));
    let newest: number | undefined;
    try {
      await readEventStream({
        endpoint: this.#endpoint,
        after: FUTURE_EVENT_ID,
        idleTimeoutMs: this.#policy.idleTimeoutMs,
        signal: probe.signal,
        onActivity: () => {},
        onEvent: ({ event = "message", data }) => {
          const first = controlEvent(event, data);
          if (first.type === "gap") newest ??= first.newest;
          probe.abort();
        },
        room: () => undefined,
      });
    } catch (error) {
      if (isNotFound(error)) return 0;
      if (newest === undefined) throw error;
    } finally {
      release();
    }
    if (newest === undefined) throw new ProtocolError("the server did not report its newest event id");
    return newest;
  }

  #backoff(): Backoff {
    return new Backoff(this.#policy.initialDelayMs, this.#policy.maxDelayMs);
  }
}

function isNotFound(reason: unknown): reason is ProblemError {
  return reason instanceof ProblemError && reason.status === 404;
}
