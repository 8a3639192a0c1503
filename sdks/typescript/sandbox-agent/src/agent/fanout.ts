import { unlessAborted } from "acp-http-client/transport";
import { Mailbox } from "../http/mailbox.js";

/** Tells several readers the same, each at its own pace; the slowest holds back the rest. */
export class Fanout<Item> {
  readonly #readers = new Set<Mailbox<Item>>();

  /** Tells everybody who reads now. */
  push(item: Item): void {
    for (const reader of this.#readers) reader.push(item);
  }

  /** Resolves once each reader has room for more. */
  async room(signal: AbortSignal): Promise<void> {
    for (const reader of this.#readers) {
      const room = reader.room();
      if (room !== undefined) await unlessAborted(room, [signal]);
    }
  }

  /** Ends all reading, with a failure if there is one. */
  end(failure?: { readonly reason: unknown }): void {
    for (const reader of this.#readers) reader.end(failure);
  }

  /** What is told from now on. */
  read(signal: AbortSignal | undefined): AsyncGenerator<Item, undefined, undefined> {
    const reader = new Mailbox<Item>();
    this.#readers.add(reader);
    return this.#reading(reader, signal);
  }

  async *#reading(
    reader: Mailbox<Item>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Item, undefined, undefined> {
    const stop = (): void => reader.end({ reason: signal?.reason });
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      for await (const item of reader) {
        signal?.throwIfAborted();
        yield item;
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#readers.delete(reader);
      reader.close();
    }
    return undefined;
  }
}
