import { BusyError, ExitedError, GapError } from "./errors.js";
import type { ExitedEvent, GapEvent } from "./events.js";
import type { RpcMessage, RpcResponse } from "./message.js";
import { isResponse } from "./message.js";

/** How many requests may be open; the server has the same limit. */
const REQUESTS_MAX = 4096;

/** Progress of an open request. */
type RequestState =
  /** Being sent. The response may come as the HTTP answer or on the stream. */
  | { readonly type: "sent" }
  /** The HTTP answer had the response, which is also the event with this id. The reader has not reached it yet. */
  | { readonly type: "answered"; readonly eventId: number; readonly response: RpcResponse }
  /** The agent has the request since the tick `at`. Only the stream can bring the response. */
  | { readonly type: "accepted"; readonly at: number };

interface OpenRequest {
  readonly sentAt: number;
  state: RequestState;
  /** A gap in the stream since the request was sent. */
  gap: GapEvent | undefined;
  readonly resolve: (response: RpcResponse) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The requests that wait for their response.
 *
 * A request resolves when the reader of the stream has reached its response, hence after every event before it. Without
 * a reader, it resolves as soon as the response is known.
 *
 * Times are ticks of the client's `LogicalClock`.
 */
export class PendingRequests {
  readonly #open = new Map<string, OpenRequest>();
  #accepted = 0;

  get size(): number {
    return this.#open.size;
  }

  /** How many requests only the stream can answer. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Registers a request that is sent at `sentAt`, and waits for its response. */
  wait(id: string, sentAt: number): Promise<RpcResponse> {
    if (this.#open.size >= REQUESTS_MAX) {
      return Promise.reject(new BusyError(`${REQUESTS_MAX} requests are waiting for a response already`));
    }
    return new Promise((resolve, reject) => {
      this.#open.set(id, { sentAt, state: { type: "sent" }, gap: undefined, resolve, reject });
    });
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** The agent has the request since `at`, and will answer it on the stream. */
  onAccepted(id: string, at: number): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    // The response may have been among the evicted events.
    if (request.gap !== undefined) return this.reject(id, new GapError(request.gap));
    request.state = { type: "accepted", at };
    this.#accepted += 1;
  }

  /** The HTTP answer had the response; the stream will bring it as the event with this id. */
  onAnswered(id: string, eventId: number, response: RpcResponse): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    if (request.gap !== undefined && eventId < request.gap.oldest) return this.resolve(id, response);
    request.state = { type: "answered", eventId, response };
  }

  /** The reader of the stream has reached this message. */
  onMessage(message: RpcMessage): void {
    if (this.#open.size === 0 || !isResponse(message) || typeof message.id !== "string") return;
    this.resolve(message.id, message);
  }

  resolve(id: string, response: RpcResponse): void {
    this.#remove(id)?.resolve(response);
  }

  reject(id: string, reason: unknown): void {
    this.#remove(id)?.reject(reason);
  }

  /**
   * The stream has a gap, detected at `at`. A request whose response is known resolves if that event is in the gap, or
   * will never come because the stream is now that of another instance (`foreign`). A request that only the stream could
   * answer fails, as its response may be in the gap.
   */
  onGap(gap: GapEvent, foreign: boolean, at: number): void {
    for (const [id, request] of this.#open) {
      const { sentAt, state } = request;
      if (sentAt > at) continue;
      request.gap = gap;
      if (state.type === "accepted") this.reject(id, new GapError(gap));
      if (state.type !== "answered") continue;
      if (state.eventId < gap.oldest || (foreign && state.eventId > gap.newest)) {
        this.resolve(id, state.response);
      }
    }
  }

  /** The agent exited: it will not answer what it accepted before `at`. */
  onExited(exit: ExitedEvent, at: number): void {
    this.#rejectAccepted(new ExitedError(exit), at);
  }

  /** The stream cannot be read: it will not bring responses to what was accepted before `at`. */
  onStreamFailed(reason: unknown, at: number): void {
    this.#rejectAccepted(reason, at);
    this.releaseAnswered();
  }

  /** Resolves the requests whose response is known, as there is no reader any more that has to reach it first. */
  releaseAnswered(): void {
    for (const [id, { state }] of this.#open) {
      if (state.type === "answered") this.resolve(id, state.response);
    }
  }

  #rejectAccepted(reason: unknown, before: number): void {
    for (const [id, { state }] of this.#open) {
      if (state.type === "accepted" && state.at < before) this.reject(id, reason);
    }
  }

  #remove(id: string): OpenRequest | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (request?.state.type === "accepted") this.#accepted -= 1;
    return request;
  }
}
