import type { Consumer, Source } from "./consumer.js";
import type { AgentEvent, ControlEvent } from "./events.js";
import { unparsed } from "./events.js";
import type { Message } from "./message.js";
import { Queue } from "./queue.js";

/** How many events may wait for their consumer before no more is read. */
const EVENTS_MAX = 1024;

/**
 * How much of them as text; one piece of the stream more may be there, and one message may be as large as it
 * likes.
 */
const CHARS_MAX = 8 << 20;

/** What the stream brought. */
export type Item =
  /** A message, as it came. */
  | { readonly type: "message"; readonly eventId: number; readonly data: string }
  /** What the transport says, and what to do when everything before it was taken. */
  | { readonly type: "control"; readonly event: ControlEvent; readonly reached?: () => void }
  /** Something to do when everything before it was taken. */
  | { readonly type: "mark"; readonly reached: () => void }
  /** The stream cannot be read any more. */
  | { readonly type: "failure"; readonly reason: unknown; readonly reached: () => void };

/** Who is told what happens at the inbox. */
export interface InboxHost {
  /** The consumer has come to this message, after taking everything before it. */
  heard(message: Message): void;
  /** Whether it matters which messages there are while nobody consumes. */
  listens(): boolean;
  /** Somebody consumes from now on. */
  attached(): void;
  /** Nobody consumes any more. */
  detached(): void;
}

/**
 * What was read and not consumed yet. There is at most one consumer; while there is none, the newest is kept,
 * and whoever comes next is told of the rest by a gap.
 */
export class Inbox implements Source {
  readonly #host: InboxHost;
  readonly #items = new Queue<Item>();
  #chars = 0;
  /** How many items at the front the host was told of already. */
  #told = 0;
  /** The last message that was dropped, if some were. */
  #dropped: number | undefined;
  /** The last message that was read. */
  #newest = 0;
  #consumer: Consumer | undefined;
  #closed = false;
  #roomy: (() => void) | undefined;

  constructor(host: InboxHost) {
    this.#host = host;
  }

  /** Whether somebody consumes. */
  get consumed(): boolean {
    return this.#consumer !== undefined;
  }

  /** Takes what was read. */
  push(item: Item): void {
    if (this.#closed) return;
    if (item.type === "message") this.#newest = item.eventId;
    if (this.#consumer === undefined) return this.#keep(item);
    if (!this.#items.empty || !this.#consumer.offer(item)) this.#put(item);
  }

  /** Resolves once there is room; nothing if there is. While nobody consumes there always is. */
  room(): Promise<void> | undefined {
    if (this.#consumer === undefined || !this.#fuller(1)) return undefined;
    return new Promise((resolve) => {
      this.#roomy = resolve;
    });
  }

  /** Nothing comes any more, and nothing is consumed. */
  close(): void {
    this.#closed = true;
    this.#items.clear();
    this.#consumer?.end();
    this.#makeRoom();
  }

  attach(consumer: Consumer): void {
    if (this.#consumer !== undefined) throw new TypeError("the events are being read already");
    this.#consumer = consumer;
    this.#host.attached();
    if (this.#closed) queueMicrotask(() => consumer.end());
  }

  detach(consumer: Consumer): void {
    if (this.#consumer !== consumer) return;
    this.#consumer = undefined;
    // What it has not come to is not waited for any more.
    this.#items.forEach((item, at) => {
      if (at >= this.#told) this.#tell(item);
    });
    this.#items.retain(isEvent);
    this.#told = this.#items.size;
    this.#makeRoom();
    this.#host.detached();
  }

  take(): Item | undefined {
    if (this.#dropped === undefined) return this.#shift();
    const event = { type: "gap", oldest: this.#dropped + 1, newest: this.#newest } as const;
    this.#dropped = undefined;
    return { type: "control", event };
  }

  reach(item: Item): AgentEvent | undefined {
    if (item.type === "message") {
      const message = parsed(item.data);
      if (message === undefined) return unparsed(item.data);
      this.#host.heard(message);
      return { type: "message", eventId: item.eventId, message };
    }
    item.reached?.();
    return item.type === "control" ? item.event : undefined;
  }

  /** Keeps an item that nobody consumes, at the cost of the oldest. */
  #keep(item: Item): void {
    this.#tell(item);
    if (!isEvent(item)) return;
    this.#put(item);
    this.#told = this.#items.size;
    while (this.#fuller(1)) {
      const oldest = this.#shift();
      if (oldest?.type === "message") this.#dropped = oldest.eventId;
    }
  }

  /** Tells the host of an item that nobody consumes. */
  #tell(item: Item): void {
    if (item.type !== "message") return item.reached?.();
    if (!this.#host.listens()) return;
    const message = parsed(item.data);
    if (message !== undefined) this.#host.heard(message);
  }

  #put(item: Item): void {
    this.#items.push(item);
    this.#chars += size(item);
  }

  #shift(): Item | undefined {
    const item = this.#items.shift();
    if (item === undefined) return undefined;
    this.#chars -= size(item);
    // Reading in larger pieces is cheaper than item by item.
    if (!this.#fuller(2)) this.#makeRoom();
    if (this.#told === 0) return item;
    this.#told -= 1;
    // The host knows of it already.
    return item.type === "control" ? { type: "control", event: item.event } : item;
  }

  /** Whether it is fuller than that part of what it may hold. */
  #fuller(part: number): boolean {
    return this.#items.size > EVENTS_MAX / part || this.#chars > CHARS_MAX / part;
  }

  #makeRoom(): void {
    this.#roomy?.();
    this.#roomy = undefined;
  }
}

/** Whether there is something in an item for a consumer that comes later. */
function isEvent(item: Item): boolean {
  return item.type === "message" || item.type === "control";
}

function size(item: Item): number {
  return item.type === "message" ? item.data.length : 0;
}

/** The message that some data is, if it is one. */
function parsed(data: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
