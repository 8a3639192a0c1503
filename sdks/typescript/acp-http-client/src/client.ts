import { ClosedError, RpcError } from "./errors.js";
import type { AgentEvent } from "./events.js";
import { Exchange } from "./exchange.js";
import type { JsonRpcId, Message, Outcome } from "./message.js";
import type {
  AcpHttpClientOptions,
  CloseOptions,
  EventsOptions,
  RequestOptions,
  SendOptions,
} from "./options.js";
import { type AcpStream, type StreamOptions, streamOf } from "./stream.js";

/** How long the deletion of an instance is waited for: closing takes less than a second in all. */
const DELETE_MS = 800;

/**
 * Speaks to one ACP agent over HTTP.
 *
 * Messages are sent by `request`, `notify`, `respond` and `send`; what the agent says is read by `events`, or
 * all of it is done by the official SDK on top of `stream`. Connections that are lost are made anew: each
 * message arrives once, and is read once, in order.
 *
 * While somebody reads the events, a request ends only after everything that the agent said before its
 * response was taken by that reader. So a reader must not wait for a request between two events.
 */
export class AcpHttpClient {
  readonly #exchange: Exchange;
  readonly #respondAsync: boolean;

  constructor(options: AcpHttpClientOptions) {
    this.#exchange = new Exchange(options);
    this.#respondAsync = options.respondAsync ?? false;
  }

  /** Whether it is closed. */
  get closed(): boolean {
    return this.#exchange.closed;
  }

  /**
   * Asks the agent something, and waits for its response.
   *
   * Fails with `RpcError` if the agent answers with an error; `ProblemError` if the server refuses;
   * `ConnectionError` if it cannot be reached; `GapError`, `ExitedError` or `GoneError` if the response is
   * lost with a part of the stream, the agent or the instance; the reason of the signal; and `ClosedError`.
   */
  async request<Result = unknown>(
    method: string,
    params?: unknown,
    options: RequestOptions = {},
  ): Promise<Result> {
    this.#check(options.signal);
    const respondAsync = options.respondAsync ?? this.#respondAsync;
    const response = await this.#exchange.request(method, params, { ...options, respondAsync });
    if ("error" in response) throw new RpcError(response.error);
    return response.result as Result;
  }

  /**
   * Tells the agent something, and waits until the server has it. Messages that are told one after the other
   * arrive so.
   */
  notify(method: string, params?: unknown, options: SendOptions = {}): Promise<void> {
    return this.send({ jsonrpc: "2.0", method, params }, options);
  }

  /** Answers a request of the agent, and waits until the server has the answer. */
  respond(id: JsonRpcId, outcome: Outcome, options: SendOptions = {}): Promise<void> {
    return this.send({ jsonrpc: "2.0", id, ...outcome }, options);
  }

  /**
   * Sends any message as it is, and waits until the server has it. The response to a request is one of the
   * events.
   *
   * The ids of requests are yours to choose, and must differ from those of everybody else who speaks to the
   * instance.
   */
  async send(message: Message, options: SendOptions = {}): Promise<void> {
    this.#check(options.signal);
    await this.#exchange.send(message, options.signal);
  }

  /**
   * What the agent says, as it says it, for one reader at a time. Asking for the next event is having taken
   * the last.
   *
   * While nobody reads, the last of what was said is kept, and a `gap` tells of the rest. The reading ends
   * when the client is closed, and fails when the stream cannot be read: with `ProblemError`,
   * `ConnectionError` or `ProtocolError`.
   */
  events(options: EventsOptions = {}): AsyncIterableIterator<AgentEvent, undefined> {
    this.#exchange.begin(0);
    return this.#exchange.consumer(options.signal);
  }

  /**
   * The two ends that `@agentclientprotocol/sdk` talks through, in place of `events` and the methods that
   * send.
   *
   * It fails when the agent has ended, when the instance is gone, and at a gap, unless somebody is told of
   * that. A request that the server refuses is answered with an error.
   */
  stream(options: StreamOptions = {}): AcpStream {
    // The SDK counts its requests from 0, so that an older response would be taken for one of its own.
    this.#exchange.begin("newest");
    return streamOf(this, options);
  }

  /**
   * Ends everything that goes on here, within a second: requests fail with `ClosedError`, and the reading of
   * events ends. The agent goes on unless the instance is to be deleted, which fails if the server does not
   * say in time that it is done.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    await this.#exchange.close();
    if (!options.delete) return;
    const { timeoutMs = DELETE_MS, graceMs = Math.floor(timeoutMs / 2) } = options;
    await this.#exchange.delete(timeoutMs, graceMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #check(signal: AbortSignal | undefined): void {
    if (this.closed) throw new ClosedError();
    signal?.throwIfAborted();
  }
}
