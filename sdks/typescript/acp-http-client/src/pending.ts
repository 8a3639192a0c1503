import { BusyError, ExitedError, GapError } from "./errors.js";
import type { ExitedEvent, GapEvent } from "./events.js";
import type { Message, ResponseMessage } from "./message.js";
import { isResponse } from "./message.js";

/** How many requests may wait for their response; as many as a server lets wait. */
const REQUESTS_MAX = 4096;

/** Where a request is on its way to its response. */
type State =
  /** It may be answered by the server as well as on the stream. */
  | { readonly type: "asked" }
  /** The response is known, and comes on the stream as the event with this id. */
  | { readonly type: "answered"; readonly eventId: number; readonly response: ResponseMessage }
  /** The agent has it since then; only the stream can answer it. */
  | { readonly type: "accepted"; readonly at: number };

interface Waiting {
  readonly askedAt: number;
  state: State;
  /** What was lost of the stream since it was asked. */
  gap: GapEvent | undefined;
  readonly resolve: (response: ResponseMessage) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The requests that wait for their response.
 *
 * A response is given to whoever waits when the stream has come to it, which is after everything that the
 * agent said before it; at once if nobody reads the stream.
 */
export class Pending {
  readonly #waiting = new Map<string, Waiting>();
  #accepted = 0;

  get size(): number {
    return this.#waiting.size;
  }

  /** How many can be answered by the stream only. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Waits for the response to the request with this id, which is asked at `askedAt`. */
  wait(id: string, askedAt: number): Promise<ResponseMessage> {
    if (this.#waiting.size >= REQUESTS_MAX) {
      return Promise.reject(new BusyError(`${REQUESTS_MAX} requests wait for their response already`));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { askedAt, state: { type: "asked" }, gap: undefined, resolve, reject });
    });
  }

  /** Whether somebody waits for the response to this request. */
  has(id: string): boolean {
    return this.#waiting.has(id);
  }

  /** The agent has the request since `at`, and its response will be on the stream only. */
  accept(id: string, at: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    // Its response may have been among what was lost.
    if (waiting.gap !== undefined) return this.reject(id, new GapError(waiting.gap));
    waiting.state = { type: "accepted", at };
    this.#accepted += 1;
  }

  /** The response is known, and the stream has yet to come to it. */
  answer(id: string, eventId: number, response: ResponseMessage): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    if (waiting.gap !== undefined && eventId < waiting.gap.oldest) return this.resolve(id, response);
    waiting.state = { type: "answered", eventId, response };
  }

  /** The stream has come to this message. */
  heard(message: Message): void {
    if (this.#waiting.size === 0 || !isResponse(message) || typeof message.id !== "string") return;
    this.resolve(message.id, message);
  }

  resolve(id: string, response: ResponseMessage): void {
    this.#take(id)?.resolve(response);
  }

  reject(id: string, reason: unknown): void {
    this.#take(id)?.reject(reason);
  }

  /**
   * Some of the stream is lost, which was learnt at `at`. A response that is known is given if it was lost,
   * or if the stream is another one than before; one that only the stream could tell may be lost too, and
   * fails.
   */
  gap(gap: GapEvent, another: boolean, at: number): void {
    for (const [id, waiting] of this.#waiting) {
      const { askedAt, state } = waiting;
      if (askedAt > at) continue;
      waiting.gap = gap;
      if (state.type === "accepted") this.reject(id, new GapError(gap));
      if (state.type !== "answered") continue;
      if (state.eventId < gap.oldest || (another && state.eventId > gap.newest)) {
        this.resolve(id, state.response);
      }
    }
  }

  /** The agent has ended: nothing answers what it was given before `at`. */
  exited(exit: ExitedEvent, at: number): void {
    this.#failAccepted(new ExitedError(exit), at);
  }

  /** The stream cannot be read: nothing answers what was accepted before `at`. */
  fail(reason: unknown, at: number): void {
    this.#failAccepted(reason, at);
    this.release();
  }

  /** Nobody reads the stream any more, so a response that is known need not wait for it. */
  release(): void {
    for (const [id, { state }] of this.#waiting) {
      if (state.type === "answered") this.resolve(id, state.response);
    }
  }

  #failAccepted(reason: unknown, before: number): void {
    for (const [id, { state }] of this.#waiting) {
      if (state.type === "accepted" && state.at < before) this.reject(id, reason);
    }
  }

  #take(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting?.state.type === "accepted") this.#accepted -= 1;
    return waiting;
  }
}
