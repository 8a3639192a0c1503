import {
  type Ask,
  ConnectionError,
  onAbort,
  ProblemError,
  ProtocolError,
  read,
  type Subscription,
} from "@tombolo/acp-http-client/transport";
import { GapError } from "../errors.js";
import type { Http } from "./http.js";
import { Mailbox } from "./mailbox.js";
import { Retry } from "./retry.js";

/** One server-sent event. */
export type ServerEvent = Parameters<Subscription["onEvent"]>[0];

/** What a stream says: something to read, which may be the last; that it is over; or nothing. */
export type Said<Item> =
  | { readonly item: Item; readonly last?: boolean }
  | { readonly over: true }
  | undefined;

/** A stream of server-sent events. */
export interface Stream<Item> {
  readonly ask: Ask;
  /** Reads what came after the event with this id; whatever the server begins with if left out. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What an event says. `gap` is known without it. */
  read(event: ServerEvent): Said<Item>;
}

/**
 * Reads a stream across cut connections: what has an id comes once, in order.
 *
 * It ends when the stream says so, and when what it was about was deleted. It fails with the reason of the
 * signal, with `GapError`, and as requests do.
 */
export async function* follow<Item>(
  http: Http,
  stream: Stream<Item>,
): AsyncGenerator<Item, undefined, undefined> {
  const stop = new AbortController();
  const release = onAbort([stream.signal, http.lifetime], (reason) => stop.abort(reason));
  const retry = new Retry(http.patience);
  let { after } = stream;
  /** Whether there was a connection; and whether there is one. */
  let [known, open] = [false, false];
  const heard = (): void => {
    [known, open] = [true, true];
  };
  try {
    for (;;) {
      try {
        for await (const event of connection(http, stream.ask, after, heard, stop.signal)) {
          retry.reset();
          // Whoever does not want more shall not get what came before.
          stop.signal.throwIfAborted();
          if (event.event === "gap") throw new GapError(parsed(event));
          const said = stream.read(event);
          if (said !== undefined && "over" in said) return undefined;
          if (said !== undefined) yield said.item;
          if (said?.last) return undefined;
          if (event.id !== undefined) after = Number(event.id);
        }
        throw new ConnectionError("the server ended the stream");
      } catch (failure) {
        // It was there until now, however long nothing was said.
        if (open) retry.heard();
        open = false;
        if (known && failure instanceof ProblemError && failure.status === 404) return undefined;
        await retry.after(failure, stop.signal);
      }
    }
  } finally {
    release();
    stop.abort();
  }
}

/** Reads one connection to its end. */
export async function* connection(
  http: Http,
  ask: Ask,
  after: number | undefined,
  heard: () => void,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent, undefined, undefined> {
  const mailbox = new Mailbox<ServerEvent>();
  const stop = new AbortController();
  const release = onAbort([signal], (reason) => stop.abort(reason));
  const { endpoint, patience } = http;
  const reading = read({
    endpoint,
    ask,
    after,
    silenceMs: patience.silenceMs,
    signal: stop.signal,
    heard,
    onEvent: (event) => mailbox.push(event),
    room: () => mailbox.room(),
  }).then(
    () => mailbox.end(),
    (reason) => mailbox.end({ reason }),
  );
  try {
    yield* mailbox;
  } finally {
    release();
    stop.abort();
    await reading;
  }
}

/** What is in an event. */
export function parsed<T>({ data }: { readonly data: string }): T {
  try {
    return JSON.parse(data) as T;
  } catch (cause) {
    throw new ProtocolError("the server said something that is no JSON", { cause });
  }
}
