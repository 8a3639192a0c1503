import type { EventReader, EventSource } from "./event-reader.js";
import { type ControlEvent, type InstanceEvent, unparsedEvent } from "./events.js";
import type { RpcMessage } from "./message.js";
import { Queue } from "./queue.js";

/** How many events may be queued before reading from the server pauses. */
const EVENTS_MAX = 1024;

/**
 * How many characters of messages may be queued before reading pauses. The queue can exceed it by one chunk of the
 * stream, and a single message may be of any size.
 */
const CHARS_MAX = 8 << 20;

/** An entry of the inbox. `reached` is called once the reader has taken everything before it. */
export type InboxItem =
  /** A message of the agent, not parsed yet. */
  | { readonly type: "message"; readonly eventId: number; readonly data: string }
  | { readonly type: "control"; readonly event: ControlEvent; readonly reached?: () => void }
  /** A position in the stream that is not an event. */
  | { readonly type: "mark"; readonly reached: () => void }
  /** The stream cannot be read any more. */
  | { readonly type: "failure"; readonly reason: unknown; readonly reached: () => void };

/** The callbacks of an inbox. */
export interface InboxHost {
  /** The reader has reached this message, after taking everything before it. */
  onMessage(message: RpcMessage): void;
  /** Whether `onMessage` is needed for messages that arrive while there is no reader. */
  needsMessages(): boolean;
  onReaderAttached(): void;
  onReaderDetached(): void;
}

/**
 * The events that were received and not taken yet. It has at most one reader. While there is none, it keeps the newest
 * events, and the next reader gets a gap for those that were dropped.
 */
export class Inbox implements EventSource {
  readonly #host: InboxHost;
  readonly #items = new Queue<InboxItem>();
  #chars = 0;
  /** How many items at the front the host was already notified of. */
  #notified = 0;
  /** Id of the last message that was dropped, if any was. */
  #dropped: number | undefined;
  /** Id of the last message that was received. */
  #newest = 0;
  #reader: EventReader | undefined;
  #closed = false;
  #onRoom: (() => void) | undefined;

  constructor(host: InboxHost) {
    this.#host = host;
  }

  get hasReader(): boolean {
    return this.#reader !== undefined;
  }

  push(item: InboxItem): void {
    if (this.#closed) return;
    if (item.type === "message") this.#newest = item.eventId;
    if (this.#reader === undefined) return this.#pushUnread(item);
    if (!this.#items.empty || !this.#reader.offer(item)) this.#enqueue(item);
  }

  /** Returns a promise if the queue is full; it resolves once there is room. Without a reader there always is. */
  room(): Promise<void> | undefined {
    if (this.#reader === undefined || !this.#exceeds(1)) return undefined;
    return new Promise((resolve) => {
      this.#onRoom = resolve;
    });
  }

  /** Ends the reader and drops everything. */
  close(): void {
    this.#closed = true;
    this.#items.clear();
    this.#reader?.end();
    this.#signalRoom();
  }

  attach(reader: EventReader): void {
    if (this.#reader !== undefined) throw new TypeError("the events have another reader already");
    this.#reader = reader;
    this.#host.onReaderAttached();
    if (this.#closed) queueMicrotask(() => reader.end());
  }

  detach(reader: EventReader): void {
    if (this.#reader !== reader) return;
    this.#reader = undefined;
    // No reader will reach the queued items, so requests must not wait for that.
    this.#items.forEach((item, index) => {
      if (index >= this.#notified) this.#notify(item);
    });
    this.#items.retain(isEvent);
    this.#notified = this.#items.size;
    this.#signalRoom();
    this.#host.onReaderDetached();
  }

  take(): InboxItem | undefined {
    if (this.#dropped === undefined) return this.#dequeue();
    const event = { type: "gap", oldest: this.#dropped + 1, newest: this.#newest } as const;
    this.#dropped = undefined;
    return { type: "control", event };
  }

  reach(item: InboxItem): InstanceEvent | undefined {
    if (item.type === "message") {
      const message = parseMessage(item.data);
      if (message === undefined) return unparsedEvent(item.data);
      this.#host.onMessage(message);
      return { type: "message", eventId: item.eventId, message };
    }
    item.reached?.();
    return item.type === "control" ? item.event : undefined;
  }

  /** Stores an item while there is no reader, and drops the oldest if there are too many. */
  #pushUnread(item: InboxItem): void {
    this.#notify(item);
    if (!isEvent(item)) return;
    this.#enqueue(item);
    this.#notified = this.#items.size;
    while (this.#exceeds(1)) {
      const oldest = this.#dequeue();
      if (oldest?.type === "message") this.#dropped = oldest.eventId;
    }
  }

  /** Notifies the host of an item that no reader will reach. */
  #notify(item: InboxItem): void {
    if (item.type !== "message") return item.reached?.();
    if (!this.#host.needsMessages()) return;
    const message = parseMessage(item.data);
    if (message !== undefined) this.#host.onMessage(message);
  }

  #enqueue(item: InboxItem): void {
    this.#items.push(item);
    this.#chars += charsOf(item);
  }

  #dequeue(): InboxItem | undefined {
    const item = this.#items.shift();
    if (item === undefined) return undefined;
    this.#chars -= charsOf(item);
    // Reading resumes at half the limit: few large reads are cheaper than one for each item.
    if (!this.#exceeds(2)) this.#signalRoom();
    if (this.#notified === 0) return item;
    this.#notified -= 1;
    // `reached` was called before.
    return item.type === "control" ? { type: "control", event: item.event } : item;
  }

  /** Whether the queue exceeds its limits divided by `divisor`. */
  #exceeds(divisor: number): boolean {
    return this.#items.size > EVENTS_MAX / divisor || this.#chars > CHARS_MAX / divisor;
  }

  #signalRoom(): void {
    this.#onRoom?.();
    this.#onRoom = undefined;
  }
}

/** Whether a later reader can use the item. */
function isEvent(item: InboxItem): boolean {
  return item.type === "message" || item.type === "control";
}

function charsOf(item: InboxItem): number {
  return item.type === "message" ? item.data.length : 0;
}

function parseMessage(data: string): RpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as RpcMessage) : undefined;
  } catch {
    return undefined;
  }
}
