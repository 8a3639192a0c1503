import { Queue } from "acp-http-client/transport";

/** How much may wait for its reader until nothing more is taken from the wire. */
const WAITING_MAX = 256;

/** Hands over what one side has to the other, which reads it when it likes. */
export class Mailbox<Item> implements AsyncIterable<Item, undefined> {
  readonly #items = new Queue<Item>();
  #end: { readonly reason?: unknown } | undefined;
  #tellEnd: (reason: unknown) => void = () => {};
  /** Resolves at the end, with the failure if there is one. */
  readonly ended: Promise<unknown> = new Promise((resolve) => {
    this.#tellEnd = resolve;
  });
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;

  /** How much waits. */
  get size(): number {
    return this.#items.size;
  }

  /** What comes after the end is dropped. */
  push(item: Item): void {
    if (this.#end !== undefined) return;
    this.#items.push(item);
    this.#wakeReader?.();
  }

  /** Resolves once there is room for more; nothing if there is. */
  room(): Promise<void> | undefined {
    if (this.#items.size < WAITING_MAX) return undefined;
    return new Promise((resolve) => {
      this.#wakeWriter = resolve;
    });
  }

  /** There will be no more, because of this failure if there is one. What is there can still be read. */
  end(failure?: { readonly reason: unknown }): void {
    this.#end ??= failure ?? {};
    this.#tellEnd(failure?.reason);
    this.#wakeReader?.();
  }

  /** Nobody reads any more: whoever waits for room need not. */
  close(): void {
    this.#items.clear();
    this.end();
    this.#wakeWriter?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, undefined, undefined> {
    for (;;) {
      while (!this.#items.empty) {
        const item = this.#items.shift() as Item;
        if (this.#items.size < WAITING_MAX) this.#wakeWriter?.();
        yield item;
      }
      if (this.#end !== undefined) {
        if ("reason" in this.#end) throw this.#end.reason;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }
}
