import { AcpHttpClient, type AgentEvent as TransportEvent } from "@tombolo/acp-http-client";
import { unlessAborted } from "@tombolo/acp-http-client/transport";
import type { ServerOptions } from "../options.js";
import { VERSION } from "../version.js";
import { answerOf, capabilitiesOf } from "./answers.js";
import type { AgentEvent, Handlers } from "./events.js";
import { failureOf } from "./failures.js";
import { agentOf, type ConnectedAgent } from "./features.js";
import { updateOf } from "./updates.js";
import { fields, text } from "./wire.js";

/** Which agent is connected to, and who is told what it says. */
export interface ConnectionOptions {
  readonly server: ServerOptions;
  readonly agent: string;
  readonly instanceId: string;
  /** How long the agent goes on when nobody is connected to it any more; for ever if left out. */
  readonly lingerMs: number | undefined;
  readonly handlers: Handlers;
  /** Gives up connecting. */
  readonly signal: AbortSignal;
  /** Whether the agent ends with a connection that is given up. */
  endsAgent(): boolean;
  /** Which sessions end with the agent. */
  sessions(): readonly string[];
  /** Is told what the agent says, which is heard no further until this is done. It may be done at once. */
  onEvent(event: AgentEvent): Promise<unknown> | undefined;
  /** Resolves once those who read have taken what was heard until now; nothing if they have. */
  taken(): Promise<unknown> | undefined;
  /** Is told when nothing can be heard any more. */
  onEnd(failure?: { readonly reason: unknown }): void;
}

/** One connection to one agent. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #transport: AcpHttpClient;
  readonly #listening: Promise<void>;

  private constructor(options: ConnectionOptions) {
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
    this.#listening = this.#listen();
  }

  /** Connects, and starts the agent if it does not run. */
  static async open(options: ConnectionOptions): Promise<{ connection: Connection; agent: ConnectedAgent }> {
    const { handlers, signal } = options;
    const connection = new Connection(options);
    const hello = {
      protocolVersion: 1,
      clientCapabilities: capabilitiesOf(handlers),
      clientInfo: { name: "sandbox-agent", version: VERSION },
    };
    try {
      const answer = await connection.ask("initialize", hello, signal);
      return { connection, agent: agentOf(options.agent, answer) };
    } catch (error) {
      options.onEnd(signal.aborted ? undefined : { reason: error });
      await connection.close(signal.aborted && options.endsAgent());
      throw error;
    }
  }

  /** Asks the agent something. */
  async ask(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.#transport.request(method, params, { signal });
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Has the agent tell something, which is over when those who read have taken all of it. */
  async hearOut(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    try {
      return await this.ask(method, params, signal);
    } finally {
      const taken = this.#options.taken();
      if (taken !== undefined) await unlessAborted(taken, [signal]);
    }
  }

  /** Tells the agent something. */
  async tell(method: string, params: unknown, signal?: AbortSignal): Promise<void> {
    try {
      await this.#transport.notify(method, params, { signal });
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Closes the connection within a second, and ends the agent if that is wanted. */
  async close(end: boolean): Promise<void> {
    try {
      await this.#transport.close({ delete: end });
    } finally {
      await this.#listening;
    }
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.#transport.events()) {
        const done = this.#hear(event);
        // To wait for what is done would take longer than hearing it.
        if (done !== undefined) await done;
      }
      this.#options.onEnd();
    } catch (error) {
      this.#options.onEnd({ reason: failureOf(error) });
    }
  }

  #hear(event: TransportEvent): Promise<unknown> | undefined {
    switch (event.type) {
      case "message":
        return this.#hearMessage(event.message);
      case "unparsed": {
        const { bytes, truncated } = event;
        return this.#options.onEvent({ type: "parseError", text: event.text, bytes, truncated });
      }
      case "exited": {
        const { code, signal, stderrTail } = event;
        return this.#ended({ reason: "agentExited", code, signal, stderrTail });
      }
      case "gone":
        return this.#ended({ reason: "agentGone" });
      case "gap":
        return this.#options.onEvent(event);
      default:
        // A newer server says more than is known here.
        return undefined;
    }
  }

  #hearMessage(message: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: unknown;
  }): Promise<unknown> | undefined {
    const { id, method, params } = message;
    if (method === "session/update") {
      const { sessionId, update } = fields(params);
      return this.#options.onEvent({
        type: "sessionUpdate",
        sessionId: text(sessionId) ?? "",
        update: updateOf(update),
      });
    }
    // Answered beside what else is heard: a person may take long.
    if (method !== undefined && id !== undefined) void this.#answer(id as string | number, method, params);
    return undefined;
  }

  async #answer(id: string | number, method: string, params: unknown): Promise<void> {
    const answer = await answerOf(this.#options.handlers, method, params);
    // Whoever is closed meanwhile has no use for the answer.
    await this.#transport.respond(id, answer).catch(() => {});
  }

  async #ended(
    how: Omit<Extract<AgentEvent, { type: "sessionEnded" }>, "type" | "sessionId">,
  ): Promise<void> {
    for (const sessionId of this.#options.sessions()) {
      await this.#options.onEvent({ type: "sessionEnded", sessionId, ...how });
    }
  }
}
