import { onAbort, unlessAborted } from "@tombolo/acp-http-client/transport";
import { Mailbox } from "../http/mailbox.js";

/** Tells several readers the same, each at its own pace; the slowest holds back the rest. */
export class Fanout<Item> {
  readonly #readers = new Set<Mailbox<Item>>();

  /** Tells everybody who reads now. */
  push(item: Item): void {
    for (const reader of this.#readers) reader.push(item);
  }

  /** Resolves once each reader has room for more, or the signal is aborted; nothing if each has. */
  room(signal: AbortSignal): Promise<unknown> | undefined {
    return this.#all((reader) => reader.room(), signal);
  }

  /** Resolves once each reader has taken what it was told until now, or the signal is aborted; nothing if each has. */
  taken(signal: AbortSignal): Promise<unknown> | undefined {
    return this.#all((reader) => reader.taken(), signal);
  }

  /** Ends all reading, with a failure if there is one. */
  end(failure?: { readonly reason: unknown }): void {
    for (const reader of this.#readers) reader.end(failure);
  }

  /** What is told from now on. */
  read(signal: AbortSignal | undefined): AsyncGenerator<Item, undefined, undefined> {
    const reader = new Mailbox<Item>();
    this.#readers.add(reader);
    const release = onAbort([signal], (reason) => reader.close({ reason }));
    void reader.ended.then(() => {
      release();
      this.#readers.delete(reader);
    });
    return reader;
  }

  #all(
    wait: (reader: Mailbox<Item>) => Promise<void> | undefined,
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
