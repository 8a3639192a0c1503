import { Queue } from "@tombolo/acp-http-client/transport";

/** How much may wait for its reader until nothing more is taken from the wire. */
const WAITING_MAX = 256;

type Next<Item> = IteratorResult<Item, undefined>;

/**
 * Hands over what one side has to the other, which reads it when it likes. Asking for the next item is having taken
 * the last.
 */
export class Mailbox<Item> implements AsyncGenerator<Item, undefined, undefined> {
  readonly #items = new Queue<Item>();
  /** The reader waits for these. */
  readonly #asked = new Queue<(next: Next<Item> | Promise<Next<Item>>) => void>();
  /** How much was put in, and how much of that was taken. */
  #put = 0;
  #taken = 0;
  /** Who waits until so much was taken. */
  #waits: { readonly count: number; readonly resolve: () => void }[] = [];
  #begun = false;
  #end: { readonly reason?: unknown } | undefined;
  #tellEnd: (reason: unknown) => void = () => {};
  /** Resolves at the end, with the failure if there is one. */
  readonly ended: Promise<unknown> = new Promise((resolve) => {
    this.#tellEnd = resolve;
  });

  /** How much waits. */
  get size(): number {
    return this.#items.size;
  }

  /** What comes after the end is dropped. */
  push(item: Item): void {
    if (this.#end !== undefined) return;
    this.#put += 1;
    const give = this.#asked.shift();
    if (give === undefined) this.#items.push(item);
    else give({ done: false, value: item });
  }

  /** Resolves once there is room for more; nothing if there is. */
  room(): Promise<void> | undefined {
    return this.size < WAITING_MAX ? undefined : this.#until(this.#put - WAITING_MAX + 1);
  }

  /** Resolves once all was taken that is there now; nothing if it was, or nobody has begun to read. */
  taken(): Promise<void> | undefined {
    return this.#begun ? this.#until(this.#put) : undefined;
  }

  /** There will be no more, because of this failure if there is one. What is there can still be read. */
  end(failure?: { readonly reason: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = failure ?? {};
    this.#tellEnd(failure?.reason);
    for (let give = this.#asked.shift(); give !== undefined; give = this.#asked.shift()) give(this.#last());
    this.#take(this.#put);
  }

  /** Nobody reads any more, because of this failure if there is one: whoever waits for that need not. */
  close(failure?: { readonly reason: unknown }): void {
    this.#items.clear();
    this.end(failure);
  }

  next(): Promise<Next<Item>> {
    this.#begun = true;
    this.#take(this.#put - this.size);
    if (this.size > 0) return Promise.resolve({ done: false, value: this.#items.shift() as Item });
    if (this.#end !== undefined) return this.#last();
    return new Promise((resolve) => {
      this.#asked.push(resolve);
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

  /** What is said at the end: why, once, if there is a reason. */
  async #last(): Promise<Next<Item>> {
    const end = this.#end ?? {};
    this.#end = {};
    if ("reason" in end) throw end.reason;
    return { done: true, value: undefined };
  }

  #until(count: number): Promise<void> | undefined {
    if (this.#end !== undefined || this.#taken >= count) return undefined;
    return new Promise((resolve) => {
      this.#waits.push({ count, resolve });
    });
  }

  #take(taken: number): void {
    this.#taken = taken;
    if (this.#waits.length === 0) return;
    const waits = this.#waits;
    this.#waits = waits.filter(({ count }) => count > taken);
    for (const { count, resolve } of waits) if (count <= taken) resolve();
  }
}
