import { onAbort } from "./abort.js";
import type { InstanceEvent } from "./events.js";
import type { InboxItem } from "./inbox.js";

type NextEvent = IteratorResult<InstanceEvent, undefined>;

/** The queue that a reader takes its items from. */
export interface EventSource {
  /** Registers a reader. Throws if there is one already. */
  attach(reader: EventReader): void;
  /** Removes the first item of the queue. */
  take(): InboxItem | undefined;
  /** Runs the side effects of an item that the reader has reached; returns its event, if it has one. */
  reach(item: InboxItem): InstanceEvent | undefined;
  /** Unregisters a reader. */
  detach(reader: EventReader): void;
}

/**
 * The iterator that `events()` returns. It attaches to its source with the first `next()`, and detaches when it ends.
 * Each call of `next()` also acknowledges the event before.
 */
export class EventReader implements AsyncIterableIterator<InstanceEvent, undefined> {
  readonly #source: EventSource;
  readonly #signal: AbortSignal | undefined;
  #state: "new" | "reading" | "ended" = "new";
  #release = (): void => {};
  /** The open call of `next()`. */
  #waiting:
    | { readonly resolve: (next: NextEvent) => void; readonly reject: (reason: unknown) => void }
    | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(source: EventSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  async next(): Promise<NextEvent> {
    if (this.#waiting !== undefined)
      throw new TypeError("next() was called before the last call had resolved");
    if (this.#state === "new") this.#start();
    while (this.#state === "reading") {
      const item = this.#source.take();
      if (item === undefined) {
        return new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject };
        });
      }
      const value = this.#source.reach(item);
      if (value !== undefined) return { done: false, value };
      if (item.type === "failure") this.#fail(item.reason);
    }
    return this.#lastResult();
  }

  async return(): Promise<NextEvent> {
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Hands an item to the open call of `next()`. Returns false if there is none. */
  offer(item: InboxItem): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined) return false;
    const value = this.#source.reach(item);
    if (value !== undefined) {
      this.#waiting = undefined;
      waiting.resolve({ done: false, value });
    } else if (item.type === "failure") {
      this.#fail(item.reason);
    }
    return true;
  }

  /** Ends the iteration. */
  end(): void {
    const before = this.#state;
    this.#state = "ended";
    if (before !== "reading") return;
    this.#release();
    this.#source.detach(this);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.#lastResult().then(waiting.resolve, waiting.reject);
  }

  #start(): void {
    this.#signal?.throwIfAborted();
    this.#source.attach(this);
    this.#state = "reading";
    this.#release = onAbort([this.#signal], (reason) => this.#fail(reason));
  }

  #fail(reason: unknown): void {
    this.#failure = { reason };
    this.end();
  }

  /** The result after the last event. Throws the failure, if there was one, but only once. */
  async #lastResult(): Promise<NextEvent> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.reason;
    return { done: true, value: undefined };
  }
}
