import { ClosedError, RpcError } from "./errors.js";
import type { InstanceEvent } from "./events.js";
import { Exchange } from "./exchange.js";
import type { JsonRpcId, RpcMessage, RpcOutcome } from "./message.js";
import type {
  AcpHttpClientOptions,
  CloseOptions,
  EventsOptions,
  RequestOptions,
  SendOptions,
} from "./options.js";
import { type AcpStream, createStream, type StreamOptions } from "./stream.js";

/** Default time limit for the deletion of an instance, so that closing takes less than a second in total. */
const DELETE_TIMEOUT_MS = 800;

/**
 * A client of one ACP agent over HTTP.
 *
 * Send messages with `request`, `notify`, `respond` and `send`, and read those of the agent with `events`; or let the
 * official SDK do both on top of `stream`. The client reconnects after a lost connection: each message arrives once,
 * and each event is read once and in order.
 *
 * While `events` is being read, a request resolves only after the reader has taken every event that precedes the
 * response. So a reader must not await a request between two events.
 */
export class AcpHttpClient {
  readonly #exchange: Exchange;
  readonly #respondAsync: boolean;

  constructor(options: AcpHttpClientOptions) {
    this.#exchange = new Exchange(options);
    this.#respondAsync = options.respondAsync ?? false;
  }

  get closed(): boolean {
    return this.#exchange.closed;
  }

  /**
   * Sends a request to the agent and returns its result.
   *
   * Throws `RpcError` if the agent answers with an error; `ProblemError` if the server rejects the request;
   * `ConnectionError` if the server is unreachable; `GapError`, `ExitedError` or `GoneError` if the response is lost
   * with a part of the stream, the agent or the instance; the reason of the signal; and `ClosedError`.
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
   * Sends a notification to the agent. Resolves once the server has it. Notifications arrive in the order of the calls.
   */
  notify(method: string, params?: unknown, options: SendOptions = {}): Promise<void> {
    return this.send({ jsonrpc: "2.0", method, params }, options);
  }

  /** Answers a request of the agent. Resolves once the server has the answer. */
  respond(id: JsonRpcId, outcome: RpcOutcome, options: SendOptions = {}): Promise<void> {
    return this.send({ jsonrpc: "2.0", id, ...outcome }, options);
  }

  /**
   * Sends any message unchanged. Resolves once the server has it. The response to a request is an event of the stream.
   *
   * You choose the ids of requests. They must differ from those of all other clients of the instance.
   */
  async send(message: RpcMessage, options: SendOptions = {}): Promise<void> {
    this.#check(options.signal);
    await this.#exchange.send(message, options.signal);
  }

  /**
   * Reads the events of the instance, for one reader at a time. Requesting the next event acknowledges the last.
   *
   * While there is no reader, the client keeps the newest events; the next reader gets a `gap` for the others. Reading
   * ends when the client is closed, and throws `ProblemError`, `ConnectionError` or `ProtocolError` if the stream cannot
   * be read.
   */
  events(options: EventsOptions = {}): AsyncIterableIterator<InstanceEvent, undefined> {
    this.#exchange.startAt(0);
    return this.#exchange.reader(options.signal);
  }

  /**
   * Creates a `Stream` for `@agentclientprotocol/sdk`. It replaces `events` and the methods that send.
   *
   * It fails when the agent exits, when the instance is deleted, and at a gap, unless `onControl` is set. If the server
   * rejects a request, the stream answers that request with a JSON-RPC error.
   */
  stream(options: StreamOptions = {}): AcpStream {
    // The SDK counts its request ids from 0. It would take an old response with the same id for one of its own.
    this.#exchange.startAt("newest");
    return createStream(this, options);
  }

  /**
   * Ends all requests (with `ClosedError`) and readers within a second. The agent continues, unless `delete` is set. The
   * deletion throws `ConnectionError` if the server does not confirm it in time.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    await this.#exchange.close();
    if (!options.delete) return;
    const { timeoutMs = DELETE_TIMEOUT_MS, graceMs = Math.floor(timeoutMs / 2) } = options;
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
