import { onAbort, unlessAborted } from "./abort.js";
import { Backoff } from "./backoff.js";
import type { Clock } from "./clock.js";
import { Cursor, type News } from "./cursor.js";
import type { Endpoint } from "./endpoint.js";
import { ConnectionError, ProtocolError } from "./errors.js";
import { controlEvent, type ExitedEvent } from "./events.js";
import type { Patience } from "./options.js";
import { ProblemError } from "./problem.js";
import { read } from "./subscription.js";
import { now, sleep } from "./time.js";

/** A connection that lasted so long was worth having, even if nothing was said on it. */
const LASTING_MS = 10_000;

/** The id of an event that there never was: who asks for what came after it is told where the stream is. */
const FUTURE: number = Number.MAX_SAFE_INTEGER;

/** Refusals that may be none in a moment. */
const PASSING = [408, 429, 502, 503, 504];

/** Who is told what is read. */
export interface FollowerHost {
  /** Something was said. */
  onNews(news: News): void;
  /** The agent has ended: nothing answers what it was given before `at`. */
  onEnded(exit: ExitedEvent, at: number): void;
  /** There is no instance any more: nothing answers what was accepted before `at`. */
  onGone(problem: ProblemError, at: number): void;
  /** There is no instance yet. */
  onAbsent(problem: ProblemError): void;
  /** The stream cannot be read. */
  onFailure(reason: unknown): void;
  /** Resolves once there is room for more; nothing if there is. */
  room(): Promise<void> | undefined;
  /** Whether anybody wants to know what is said. */
  wants(): boolean;
  /** Whether somebody waits for what only the stream can tell. */
  awaits(): boolean;
  /** Whether a message of ours is on its way, which may make the instance. */
  sends(): boolean;
}

/** How a connection ended. */
type End =
  | { readonly type: "ended"; readonly exit: ExitedEvent }
  | { readonly type: "cut"; readonly reason: unknown };

/**
 * Reads the stream of one instance, across cut connections: each message once, in order. It rests while
 * nobody wants it, and when there is nothing to be read, until it is woken.
 */
export class Follower {
  readonly #endpoint: Endpoint;
  readonly #patience: Patience;
  readonly #clock: Clock;
  readonly #closed: AbortSignal;
  readonly #host: FollowerHost;
  /** How far it was read; nothing as long as it is not known where to begin. */
  #cursor: Cursor | undefined;
  #locating: Promise<void> | undefined;
  /** When it was last known that there is an instance; never if 0. */
  #knownAt = 0;
  #reading: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  /** Somebody has news since the last connection was asked for. */
  #woken = false;
  #heardAt = 0;
  /** Ends the pause between two connections. */
  #hurry: AbortController | undefined;

  constructor(endpoint: Endpoint, patience: Patience, clock: Clock, closed: AbortSignal, host: FollowerHost) {
    this.#closed = closed;
    this.#endpoint = endpoint;
    this.#patience = patience;
    this.#clock = clock;
    this.#host = host;
  }

  /** Begins to read after this event, unless it was begun already. */
  begin(after: number): void {
    this.#cursor ??= new Cursor(after);
  }

  /**
   * Begins to read after everything that was said before, unless it was begun already. To be done before a
   * message is sent.
   */
  async locate(): Promise<void> {
    if (this.#cursor !== undefined) return;
    this.#locating ??= this.#locate().finally(() => {
      this.#locating = undefined;
    });
    await this.#locating;
  }

  /** There is an instance now: what is waited for in between may be there. */
  known(): void {
    this.#knownAt = this.#clock.tick();
    this.#hurry?.abort();
  }

  /** Reads from now on, if anybody wants that. To be called when there may be something new to be read. */
  wake(): void {
    this.#woken = true;
    if (this.#reading !== undefined || !this.#host.wants()) return;
    const stop = new AbortController();
    this.#reading = { stop, done: this.#run(stop.signal).finally(() => this.#rest(stop)) };
  }

  /** Does not read any more. What was read stays read. */
  async stop(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    reading?.stop.abort();
    await reading?.done;
  }

  #rest(stop: AbortController): void {
    if (this.#reading?.stop === stop) this.#reading = undefined;
  }

  async #locate(): Promise<void> {
    const backoff = this.#backoff();
    const since = now();
    while (this.#cursor === undefined) {
      try {
        this.begin(await this.#newest());
      } catch (error) {
        const pause = backoff.next();
        if (this.#closed.aborted || !passes(error) || now() - since + pause > this.#patience.patienceMs)
          throw error;
        await sleep(pause, this.#closed);
      }
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const backoff = this.#backoff();
    this.#heardAt = now();
    try {
      await unlessAborted(this.locate(), [signal]);
      while (!signal.aborted && this.#host.wants()) {
        if (!(await this.#follow(backoff, signal))) return;
      }
    } catch (error) {
      if (!signal.aborted) this.#host.onFailure(error);
    }
  }

  /** Reads one connection to its end; whether there is to be another. */
  async #follow(backoff: Backoff, signal: AbortSignal): Promise<boolean> {
    this.#woken = false;
    const [at, openedAt] = [this.#clock.tick(), now()];
    const end = await this.#connection(at, backoff, signal);
    if (signal.aborted) return false;
    if (now() - openedAt >= LASTING_MS) backoff.reset();
    if (end.type === "ended") {
      this.#host.onEnded(end.exit, at);
      // Whatever was accepted since may be answered by an agent that was started anew.
      if (!this.#goesOn()) return false;
    } else if (isMissing(end.reason)) {
      if (!this.#missing(end.reason, at)) return false;
    } else if (!passes(end.reason) || now() - this.#heardAt > this.#patience.patienceMs) {
      throw end.reason;
    }
    const refusal = end.type === "cut" && end.reason instanceof ProblemError ? end.reason : undefined;
    await this.#pause(backoff.next(refusal?.retryAfterMs), signal);
    return true;
  }

  async #connection(at: number, backoff: Backoff, signal: AbortSignal): Promise<End> {
    const cursor = this.#cursor ?? new Cursor(0);
    cursor.connected();
    try {
      await read({
        endpoint: this.#endpoint,
        after: cursor.position,
        silenceMs: this.#patience.silenceMs,
        signal,
        heard: () => {
          this.#heardAt = now();
          this.#knownAt = Math.max(this.#knownAt, at);
        },
        onEvent: (event) => {
          backoff.reset();
          const news = cursor.read(event);
          if (news !== undefined) this.#host.onNews(news);
        },
        room: () => this.#host.room(),
      });
    } catch (reason) {
      return { type: "cut", reason };
    }
    if (cursor.exit !== undefined) return { type: "ended", exit: cursor.exit };
    return { type: "cut", reason: new ConnectionError("the server ended the stream") };
  }

  /** There was no instance when it was asked for, at `at`; whether to ask again. */
  #missing(problem: ProblemError, at: number): boolean {
    if (this.#knownAt > at) return true;
    if (this.#knownAt === 0) {
      if (this.#woken || this.#host.sends()) return true;
      this.#host.onAbsent(problem);
      return false;
    }
    this.#knownAt = 0;
    this.#cursor = new Cursor(0);
    this.#host.onGone(problem, at);
    return this.#goesOn();
  }

  /** Waits before the next connection, unless it is learnt that the server is there. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    const hurry = new AbortController();
    const release = onAbort([signal], () => hurry.abort());
    this.#hurry = hurry;
    await sleep(ms, hurry.signal);
    release();
  }

  /** Whether there is something to read after the end. */
  #goesOn(): boolean {
    return this.#woken || this.#host.awaits();
  }

  /** The id of the newest event; 0 if there is no instance yet. */
  async #newest(): Promise<number> {
    const probe = new AbortController();
    const release = onAbort([this.#closed], (reason) => probe.abort(reason));
    let newest: number | undefined;
    try {
      await read({
        endpoint: this.#endpoint,
        after: FUTURE,
        silenceMs: this.#patience.silenceMs,
        signal: probe.signal,
        heard: () => {},
        onEvent: ({ event = "message", data }) => {
          const first = controlEvent(event, data);
          if (first.type === "gap") newest ??= first.newest;
          probe.abort();
        },
        room: () => undefined,
      });
    } catch (error) {
      if (isMissing(error)) return 0;
      if (newest === undefined) throw error;
    } finally {
      release();
    }
    if (newest === undefined) throw new ProtocolError("the server does not tell where its stream is");
    return newest;
  }

  #backoff(): Backoff {
    return new Backoff(this.#patience.firstPauseMs, this.#patience.maxPauseMs);
  }
}

function isMissing(reason: unknown): reason is ProblemError {
  return reason instanceof ProblemError && reason.status === 404;
}

function passes(reason: unknown): boolean {
  if (reason instanceof ConnectionError) return true;
  return reason instanceof ProblemError && PASSING.includes(reason.status);
}
