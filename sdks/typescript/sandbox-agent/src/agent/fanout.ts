import { onAbort, unlessAborted } from "@tombolo/acp-http-client/transport";
import { AsyncQueue } from "../http/async-queue.js";

/** Delivers the same items to several readers, each at its own pace. The slowest reader delays the producer. */
export class Fanout<Item> {
  readonly #readers = new Set<AsyncQueue<Item>>();

  /** Delivers an item to all current readers. */
  push(item: Item): void {
    for (const reader of this.#readers) reader.push(item);
  }

  /** Returns a promise if a reader has no room; it resolves once all have, or the signal is aborted. */
  room(signal: AbortSignal): Promise<unknown> | undefined {
    return this.#all((reader) => reader.room(), signal);
  }

  /** Returns a promise if a reader has not taken every item so far; it resolves once all have, or on abort. */
  drained(signal: AbortSignal): Promise<unknown> | undefined {
    return this.#all((reader) => reader.drained(), signal);
  }

  /** Ends all readers, with a failure if there is one. */
  end(failure?: { readonly reason: unknown }): void {
    for (const reader of this.#readers) reader.end(failure);
  }

  /** Adds a reader, which gets the items from now on. */
  read(signal: AbortSignal | undefined): AsyncGenerator<Item, undefined, undefined> {
    const reader = new AsyncQueue<Item>();
    this.#readers.add(reader);
    const release = onAbort([signal], (reason) => reader.close({ reason }));
    void reader.ended.then(() => {
      release();
      this.#readers.delete(reader);
    });
    return reader;
  }

  #all(
    wait: (reader: AsyncQueue<Item>) => Promise<void> | undefined,
    signal: AbortSignal,
  ): Promise<unknown> | undefined {
    const waits: Promise<void>[] = [];
    for (const reader of this.#readers) {
      const waiting = wait(reader);
      if (waiting !== undefined) waits.push(waiting);
    }
    return waits.length === 0 ? undefined : unlessAborted(Promise.all(waits), [signal]).catch(() => {});
  }
}
