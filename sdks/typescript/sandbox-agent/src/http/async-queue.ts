import { Queue } from "@tombolo/acp-http-client/transport";

/** How many items may be queued before the producer should pause. */
const ITEMS_MAX = 256;

type Next<Item> = IteratorResult<Item, undefined>;

/** A queue with backpressure between a producer and one reader. Requesting the next item acknowledges the last. */
export class AsyncQueue<Item> implements AsyncGenerator<Item, undefined, undefined> {
  readonly #items = new Queue<Item>();
  /** Open calls of `next()`. */
  readonly #readers = new Queue<(next: Next<Item> | Promise<Next<Item>>) => void>();
  /** How many items were pushed, and how many of these the reader has acknowledged. */
  #pushed = 0;
  #acknowledged = 0;
  /** Callbacks for when this many items are acknowledged. */
  #waits: { readonly count: number; readonly resolve: () => void }[] = [];
  #readingStarted = false;
  #end: { readonly reason?: unknown } | undefined;
  #resolveEnded: (reason: unknown) => void = () => {};
  /** Resolves when the queue ends, with the failure if there is one. */
  readonly ended: Promise<unknown> = new Promise((resolve) => {
    this.#resolveEnded = resolve;
  });

  get size(): number {
    return this.#items.size;
  }

  /** Adds an item. It is dropped if the queue has ended. */
  push(item: Item): void {
    if (this.#end !== undefined) return;
    this.#pushed += 1;
    const resolve = this.#readers.shift();
    if (resolve === undefined) this.#items.push(item);
    else resolve({ done: false, value: item });
  }

  /** Returns a promise if the queue is full; it resolves once there is room. */
  room(): Promise<void> | undefined {
    return this.size < ITEMS_MAX ? undefined : this.#until(this.#pushed - ITEMS_MAX + 1);
  }

  /**
   * Returns a promise if a reader has not acknowledged every item so far; it resolves once the reader has. Returns nothing
   * if there is no reader.
   */
  drained(): Promise<void> | undefined {
    return this.#readingStarted ? this.#until(this.#pushed) : undefined;
  }

  /** Ends the queue, with a failure if there is one. The reader still gets the queued items. */
  end(failure?: { readonly reason: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = failure ?? {};
    this.#resolveEnded(failure?.reason);
    for (let resolve = this.#readers.shift(); resolve !== undefined; resolve = this.#readers.shift()) {
      resolve(this.#lastResult());
    }
    this.#acknowledge(this.#pushed);
  }

  /** Ends the queue and drops the queued items. */
  close(failure?: { readonly reason: unknown }): void {
    this.#items.clear();
    this.end(failure);
  }

  next(): Promise<Next<Item>> {
    this.#readingStarted = true;
    this.#acknowledge(this.#pushed - this.size);
    if (this.size > 0) return Promise.resolve({ done: false, value: this.#items.shift() as Item });
    if (this.#end !== undefined) return this.#lastResult();
    return new Promise((resolve) => {
      this.#readers.push(resolve);
    });
  }

  async return(): Promise<Next<Item>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(reason: unknown): Promise<Next<Item>> {
    this.close();
    throw reason;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** The result after the last item. Throws the failure, if there was one, but only once. */
  async #lastResult(): Promise<Next<Item>> {
    const end = this.#end ?? {};
    this.#end = {};
    if ("reason" in end) throw end.reason;
    return { done: true, value: undefined };
  }

  #until(count: number): Promise<void> | undefined {
    if (this.#end !== undefined || this.#acknowledged >= count) return undefined;
    return new Promise((resolve) => {
      this.#waits.push({ count, resolve });
    });
  }

  #acknowledge(total: number): void {
    this.#acknowledged = total;
    if (this.#waits.length === 0) return;
    const waits = this.#waits;
    this.#waits = waits.filter(({ count }) => count > total);
    for (const { count, resolve } of waits) if (count <= total) resolve();
  }
}
