import type { EventSourceMessage } from "eventsource-parser";
import { ProtocolError } from "./errors.js";
import { type ControlEvent, controlEvent, type ExitedEvent } from "./events.js";

/** How many control events are remembered, so that they are not told again. */
const TOLD_MAX = 64;

/** What an event of the wire is to whoever has read all before it. */
export type News =
  /** A message, as it came. */
  | { readonly type: "message"; readonly eventId: number; readonly data: string }
  /**
   * What the transport says. A gap is of `another` stream if the instance is not the one that was read
   * before.
   */
  | { readonly type: "control"; readonly event: ControlEvent; readonly another: boolean };

/** How far a stream was read, over many connections. */
export class Cursor {
  #position: number;
  /** The control events since then, as they came: they have no id, so a server tells them again. */
  #told: string[] = [];
  /** How many of them this connection has told again. */
  #repeated = 0;
  #exit: ExitedEvent | undefined;

  constructor(position: number) {
    this.#position = position;
  }

  /** The id of the last message that was read. */
  get position(): number {
    return this.#position;
  }

  /** How the agent ended, if that was the last that was said. */
  get exit(): ExitedEvent | undefined {
    return this.#exit;
  }

  /** A new connection begins, after the position. */
  connected(): void {
    this.#repeated = 0;
  }

  /** What is new in an event; nothing if it was read before. */
  read(event: EventSourceMessage): News | undefined {
    const name = event.event ?? "message";
    return name === "message" ? this.#message(event) : this.#control(name, event.data);
  }

  #message({ id, data }: EventSourceMessage): News | undefined {
    const eventId = Number(id);
    if (!Number.isSafeInteger(eventId))
      throw new ProtocolError(`a message has the id \`${id}\`, which is none`);
    if (eventId <= this.#position) return undefined;
    this.#move(eventId);
    return { type: "message", eventId, data };
  }

  #control(name: string, data: string): News | undefined {
    const event = controlEvent(name, data);
    if (event.type === "gap") {
      const another = event.newest < this.#position;
      // What follows starts there, also if the connection is cut before it does.
      this.#move(Math.max(event.oldest - 1, 0));
      return { type: "control", event, another };
    }
    this.#exit = event.type === "exited" ? event : undefined;
    if (this.#repeats(`${name} ${data}`)) return undefined;
    return { type: "control", event, another: false };
  }

  #move(position: number): void {
    this.#position = position;
    this.#told = [];
    this.#repeated = 0;
    this.#exit = undefined;
  }

  /** Whether this connection has told something again that one before it told, at the same place. */
  #repeats(told: string): boolean {
    const repeats = this.#told[this.#repeated] === told;
    if (!repeats && this.#told.length < TOLD_MAX) this.#told.push(told);
    this.#repeated = repeats ? this.#repeated + 1 : this.#told.length;
    return repeats;
  }
}
