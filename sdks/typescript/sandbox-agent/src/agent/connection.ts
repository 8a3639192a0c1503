import { AcpHttpClient, type InstanceEvent } from "@tombolo/acp-http-client";
import { unlessAborted } from "@tombolo/acp-http-client/transport";
import type { ServerOptions } from "../options.js";
import { VERSION } from "../version.js";
import { answerAgentRequest, clientCapabilities } from "./agent-requests.js";
import type { AgentEvent, AgentRequestHandlers } from "./events.js";
import { type ConnectedAgent, parseConnectedAgent } from "./features.js";
import { translateError } from "./translate-error.js";
import { asObject, asString } from "./untyped.js";
import { parseUpdate } from "./updates.js";

/** Options and callbacks of a connection. */
export interface AgentConnectionOptions {
  readonly server: ServerOptions;
  readonly agent: string;
  readonly instanceId: string;
  /** How long the server keeps the agent running without a client. Default: forever. */
  readonly lingerMs: number | undefined;
  readonly handlers: AgentRequestHandlers;
  /** Cancels connecting. */
  readonly signal: AbortSignal;
  /** Whether to end the agent when connecting is cancelled. */
  endsAgent(): boolean;
  /** The sessions that end when the agent does. */
  sessions(): readonly string[];
  /** Handles an event. If it returns a promise, no more is read until that resolves. */
  onEvent(event: AgentEvent): Promise<unknown> | undefined;
  /** Returns a promise that resolves once all readers have taken the events so far; nothing if they have. */
  drained(): Promise<unknown> | undefined;
  /** Called when there will be no more events. */
  onEnd(failure?: { readonly reason: unknown }): void;
}

/** One connection to one agent. */
export class AgentConnection {
  readonly #options: AgentConnectionOptions;
  readonly #transport: AcpHttpClient;
  readonly #reading: Promise<void>;

  private constructor(options: AgentConnectionOptions) {
    const { server, agent, instanceId, lingerMs } = options;
    const { token, headers, fetch, signal, reconnect, baseUrl } = server;
    this.#options = options;
    this.#transport = new AcpHttpClient({
      baseUrl,
      serverId: instanceId,
      agent,
      token,
      ...(headers === undefined ? {} : { headers }),
      fetch,
      signal,
      reconnect,
      after: "newest",
      ...(lingerMs === undefined ? {} : { query: { lingerMs: String(lingerMs) } }),
    });
    this.#reading = this.#readEvents();
  }

  /** Connects, and starts the agent if it is not running. */
  static async open(
    options: AgentConnectionOptions,
  ): Promise<{ connection: AgentConnection; agent: ConnectedAgent }> {
    const { handlers, signal } = options;
    const connection = new AgentConnection(options);
    const params = {
      protocolVersion: 1,
      clientCapabilities: clientCapabilities(handlers),
      clientInfo: { name: "sandbox-agent", version: VERSION },
    };
    try {
      const result = await connection.request("initialize", params, signal);
      return { connection, agent: parseConnectedAgent(options.agent, result) };
    } catch (error) {
      options.onEnd(signal.aborted ? undefined : { reason: error });
      await connection.close(signal.aborted && options.endsAgent());
      throw error;
    }
  }

  /** Sends a request to the agent. */
  async request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#transport.request(method, params, { signal });
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Sends a request. Resolves once all readers have taken the events that precede the response. */
  async requestAndDrain(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.request(method, params, signal);
    } finally {
      const drained = this.#options.drained();
      if (drained !== undefined) await unlessAborted(drained, [signal]);
    }
  }

  /** Sends a notification to the agent. */
  async notify(method: string, params: unknown, signal?: AbortSignal): Promise<void> {
    try {
      await this.#transport.notify(method, params, { signal });
    } catch (error) {
      throw translateError(error);
    }
  }

  /** Closes the connection within a second, and ends the agent if `endAgent` is true. */
  async close(endAgent: boolean): Promise<void> {
    try {
      await this.#transport.close({ delete: endAgent });
    } finally {
      await this.#reading;
    }
  }

  async #readEvents(): Promise<void> {
    try {
      for await (const event of this.#transport.events()) {
        const done = this.#onEvent(event);
        // Awaiting `undefined` for each event would cost more than handling it.
        if (done !== undefined) await done;
      }
      this.#options.onEnd();
    } catch (error) {
      this.#options.onEnd({ reason: translateError(error) });
    }
  }

  #onEvent(event: InstanceEvent): Promise<unknown> | undefined {
    switch (event.type) {
      case "message":
        return this.#onMessage(event.message);
      case "unparsed": {
        const { bytes, truncated } = event;
        return this.#options.onEvent({ type: "parseError", text: event.text, bytes, truncated });
      }
      case "exited": {
        const { code, signal, stderrTail } = event;
        return this.#endSessions({ reason: "agentExited", code, signal, stderrTail });
      }
      case "gone":
        return this.#endSessions({ reason: "agentGone" });
      case "gap":
        return this.#options.onEvent(event);
      default:
        // A newer server may send other events.
        return undefined;
    }
  }

  #onMessage(message: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: unknown;
  }): Promise<unknown> | undefined {
    const { id, method, params } = message;
    if (method === "session/update") {
      const { sessionId, update } = asObject(params);
      return this.#options.onEvent({
        type: "sessionUpdate",
        sessionId: asString(sessionId) ?? "",
        update: parseUpdate(update),
      });
    }
    // Not awaited: a person may take long to answer, and the agent sends other events meanwhile.
    if (method !== undefined && id !== undefined) void this.#answer(id as string | number, method, params);
    return undefined;
  }

  async #answer(id: string | number, method: string, params: unknown): Promise<void> {
    const outcome = await answerAgentRequest(this.#options.handlers, method, params);
    // Fails if the client was closed meanwhile; then the agent does not need the answer.
    await this.#transport.respond(id, outcome).catch(() => {});
  }

  async #endSessions(
    end: Omit<Extract<AgentEvent, { type: "sessionEnded" }>, "type" | "sessionId">,
  ): Promise<void> {
    for (const sessionId of this.#options.sessions()) {
      await this.#options.onEvent({ type: "sessionEnded", sessionId, ...end });
    }
  }
}
