import { onAbort } from "./abort.js";
import type { AgentEvent } from "./events.js";
import type { Item } from "./inbox.js";

type Next = IteratorResult<AgentEvent, undefined>;

/** Where a consumer takes events from. */
export interface Source {
  /** A consumer begins; it fails if it may not. */
  attach(consumer: Consumer): void;
  /** The next item, if there is one. */
  take(): Item | undefined;
  /** What the consumer gets of an item that it has come to; nothing if that is not for it. */
  reach(item: Item): AgentEvent | undefined;
  /** A consumer ends. */
  detach(consumer: Consumer): void;
}

/**
 * Whoever reads the events, one at a time, from when it first asks for one until it leaves. Asking for the
 * next is accepting the last.
 */
export class Consumer implements AsyncIterableIterator<AgentEvent, undefined> {
  readonly #source: Source;
  readonly #signal: AbortSignal | undefined;
  #state: "new" | "reading" | "ended" = "new";
  #release = (): void => {};
  #asks: { readonly resolve: (next: Next) => void; readonly reject: (reason: unknown) => void } | undefined;
  #failure: { readonly reason: unknown } | undefined;

  constructor(source: Source, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  async next(): Promise<Next> {
    if (this.#asks !== undefined) throw new TypeError("the next event is waited for already");
    if (this.#state === "new") this.#begin();
    while (this.#state === "reading") {
      const item = this.#source.take();
      if (item === undefined) {
        return new Promise((resolve, reject) => {
          this.#asks = { resolve, reject };
        });
      }
      const value = this.#source.reach(item);
      if (value !== undefined) return { done: false, value };
      if (item.type === "failure") this.#fail(item.reason);
    }
    return this.#last();
  }

  async return(): Promise<Next> {
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Gives it an item, if it waits for one. */
  offer(item: Item): boolean {
    const asks = this.#asks;
    if (asks === undefined) return false;
    const value = this.#source.reach(item);
    if (value !== undefined) {
      this.#asks = undefined;
      asks.resolve({ done: false, value });
    } else if (item.type === "failure") {
      this.#fail(item.reason);
    }
    return true;
  }

  /** There is no more. */
  end(): void {
    const before = this.#state;
    this.#state = "ended";
    if (before !== "reading") return;
    this.#release();
    this.#source.detach(this);
    const asks = this.#asks;
    this.#asks = undefined;
    if (asks !== undefined) this.#last().then(asks.resolve, asks.reject);
  }

  #begin(): void {
    this.#signal?.throwIfAborted();
    this.#source.attach(this);
    this.#state = "reading";
    this.#release = onAbort([this.#signal], (reason) => this.#fail(reason));
  }

  #fail(reason: unknown): void {
    this.#failure = { reason };
    this.end();
  }

  /** What is said at the end: why, once, if there is a reason. */
  async #last(): Promise<Next> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.reason;
    return { done: true, value: undefined };
  }
}
