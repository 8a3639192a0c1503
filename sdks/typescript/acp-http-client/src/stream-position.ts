import type { EventSourceMessage } from "eventsource-parser";
import { ProtocolError } from "./errors.js";
import { type ControlEvent, controlEvent, type ExitedEvent } from "./events.js";

/** How many control events are remembered in order to recognise their repetition. */
const REMEMBERED_CONTROLS_MAX = 64;

/** A server-sent event that was not read before. */
export type NewEvent =
  /** A message of the agent, not parsed yet. */
  | { readonly type: "message"; readonly eventId: number; readonly data: string }
  /** `foreign` marks a gap after which the stream belongs to another instance of the same name. */
  | { readonly type: "control"; readonly event: ControlEvent; readonly foreign: boolean };

/**
 * How far the stream of an instance was read, over many connections. It drops events that a new connection repeats.
 *
 * Messages have ids, so repetitions are easy to recognise. Control events have none: after a reconnect the server
 * sends those since the last message again. So the control events after the last message are remembered, and
 * compared one by one with what the new connection sends.
 */
export class StreamPosition {
  #lastId: number;
  /** The control events after the last message. */
  #controls: string[] = [];
  /** How many of them this connection has repeated. */
  #repeated = 0;
  #exit: ExitedEvent | undefined;

  constructor(lastId: number) {
    this.#lastId = lastId;
  }

  /** The id of the last message that was read. */
  get lastId(): number {
    return this.#lastId;
  }

  /** The `exited` event, if it was the last event. */
  get exit(): ExitedEvent | undefined {
    return this.#exit;
  }

  /** Must be called when a new connection starts to read after `lastId`. */
  onConnected(): void {
    this.#repeated = 0;
  }

  /** Records an event. Returns nothing if it was read before. */
  advance(event: EventSourceMessage): NewEvent | undefined {
    const name = event.event ?? "message";
    return name === "message" ? this.#onMessage(event) : this.#onControl(name, event.data);
  }

  #onMessage({ id, data }: EventSourceMessage): NewEvent | undefined {
    const eventId = Number(id);
    if (!Number.isSafeInteger(eventId))
      throw new ProtocolError(`the server sent the invalid event id \`${id}\``);
    if (eventId <= this.#lastId) return undefined;
    this.#moveTo(eventId);
    return { type: "message", eventId, data };
  }

  #onControl(name: string, data: string): NewEvent | undefined {
    const event = controlEvent(name, data);
    if (event.type === "gap") {
      const foreign = event.newest < this.#lastId;
      // The stream continues at `oldest`, also if the connection is cut before the first event after the gap.
      this.#moveTo(Math.max(event.oldest - 1, 0));
      return { type: "control", event, foreign };
    }
    this.#exit = event.type === "exited" ? event : undefined;
    if (this.#isRepetition(`${name} ${data}`)) return undefined;
    return { type: "control", event, foreign: false };
  }

  #moveTo(id: number): void {
    this.#lastId = id;
    this.#controls = [];
    this.#repeated = 0;
    this.#exit = undefined;
  }

  /** Whether an earlier connection delivered the same control event at the same place. Remembers it otherwise. */
  #isRepetition(control: string): boolean {
    const repeats = this.#controls[this.#repeated] === control;
    if (!repeats && this.#controls.length < REMEMBERED_CONTROLS_MAX) this.#controls.push(control);
    this.#repeated = repeats ? this.#repeated + 1 : this.#controls.length;
    return repeats;
  }
}
