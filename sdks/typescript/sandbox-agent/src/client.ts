import { AgentLink, type ConnectOptions, type DisconnectOptions } from "./agent/agent-link.js";
import type { AgentEvent, AgentRequestHandlers, ContentPart } from "./agent/events.js";
import type { ConnectedAgent, SessionChoice } from "./agent/features.js";
import type { SessionInfo } from "./agent/session-tracker.js";
import type { SessionOptions, StopReason } from "./agent/sessions.js";
import { Agents } from "./daemon/agents.js";
import { Config } from "./daemon/config.js";
import { Files } from "./daemon/files.js";
import { Processes } from "./daemon/processes.js";
import { Sessions } from "./daemon/sessions.js";
import { Waits } from "./daemon/waits.js";
import type { HealthStatus } from "./generated/aliases.js";
import { RouteClient } from "./http/route-client.js";
import type { CallOptions, ServerOptions } from "./options.js";
import type { SessionMetadata, SessionStore } from "./store/store.js";

/** The sandbox of a client, and the agent in it. */
export interface SandboxAgentOptions extends ServerOptions, AgentRequestHandlers {
  /** The agent to connect to, such as `claude`. Without one, only the resources that need no connection work. */
  readonly agent?: string | undefined;
  /** Whether the client connects automatically. Default: true, if there is an `agent`. */
  readonly autoConnect?: boolean | undefined;
  /** Id of the agent's process on the server. Clients with the same id share the process. Default: a random id. */
  readonly instanceId?: string | undefined;
  /**
   * How long the server keeps the agent's process running without a client, for example after a crash of this one.
   * Default: forever; without an `instanceId` one day, as no other client could connect to the process.
   */
  readonly lingerMs?: number | undefined;
  /** Where to store session metadata. Default: in memory. */
  readonly store?: SessionStore | undefined;
}

/**
 * A client of a sandbox and of one agent in it.
 *
 * The resources `sessions`, `waits`, `agents`, `files`, `config` and `processes` need no connection to an agent. The
 * methods of the client itself use at most one connection. They throw `NotConnectedError` if there is none,
 * `UnsupportedError` if the agent does not support the feature, `AgentFailedError` if it answers with an error, and the
 * errors of HTTP requests.
 */
export class SandboxAgentClient {
  /** Sessions with any agent, stored by the server. */
  readonly sessions: Sessions;
  /** Permission requests and questions of all sessions that wait for a person. */
  readonly waits: Waits;
  /** The agents that the server knows. */
  readonly agents: Agents;
  /** The files of the sandbox. */
  readonly files: Files;
  /** MCP servers and skills of agents, by directory. */
  readonly config: Config;
  /** The processes of the sandbox. */
  readonly processes: Processes;
  readonly #http: RouteClient;
  readonly #link: AgentLink;

  constructor(options: SandboxAgentOptions) {
    const http = new RouteClient(options);
    this.sessions = new Sessions(http);
    this.waits = new Waits(http);
    this.agents = new Agents(http);
    this.files = new Files(http);
    this.config = new Config(http);
    this.processes = new Processes(http);
    this.#http = http;
    this.#link = new AgentLink(options);
    if ((options.autoConnect ?? true) && options.agent !== undefined) this.#link.connectInBackground();
  }

  /** Whether the client is connected or connecting. */
  get connected(): boolean {
    return this.#link.connected;
  }

  /** Checks that the server is running. */
  health({ signal }: CallOptions = {}): Promise<HealthStatus> {
    return this.#http.json("get", "/v1/health", { signal });
  }

  /** Connects to the agent and starts it if necessary. Throws `AlreadyConnectedError` if there is a connection. */
  connect(options: ConnectOptions = {}): Promise<ConnectedAgent> {
    return this.#link.connect(options);
  }

  /**
   * Closes the connection and ends the agent (unless `keepAgent` is set) within a second. Throws `ConnectionError` if the
   * server does not confirm in time that the agent has ended; the client is disconnected in either case.
   */
  disconnect(options: DisconnectOptions = {}): Promise<void> {
    return this.#link.disconnect(options);
  }

  /**
   * Reads the events of the agent from now on, until the client disconnects.
   *
   * The slowest reader delays the others, so a reader must not await `prompt` or `loadSession` between two events.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<AgentEvent, undefined, undefined> {
    return this.#link.events(signal);
  }

  /** Creates a session. Sets `mode` and `model` if the agent offers them. */
  async newSession(session: SessionOptions, options: CallOptions = {}): Promise<SessionInfo> {
    return (await this.#link.sessions()).create(session, options);
  }

  /** Continues a session. The agent sends its history again. */
  async loadSession(
    sessionId: string,
    session: SessionOptions,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).reopen("loadSession", sessionId, session, options);
  }

  /** Continues a session without receiving its history again. */
  async resumeSession(
    sessionId: string,
    session: SessionOptions,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).reopen("resumeSession", sessionId, session, options);
  }

  /** Creates a session with the history of another. */
  async forkSession(
    sessionId: string,
    session: SessionOptions,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).reopen("forkSession", sessionId, session, options);
  }

  /**
   * Sends a prompt. Resolves when the turn is over and the readers of `events` have taken all of its events. Aborting the
   * signal does not end the turn.
   */
  async prompt(
    sessionId: string,
    content: string | readonly ContentPart[],
    options: CallOptions = {},
  ): Promise<{ readonly stopReason: StopReason }> {
    return (await this.#link.sessions()).prompt(sessionId, content, options);
  }

  /** Cancels the running turn. Its `prompt` resolves with `cancelled`. */
  async cancel(sessionId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).cancel(sessionId, options);
  }

  /** Sets the mode of the agent. */
  async setSessionMode(sessionId: string, modeId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).setMode(sessionId, modeId, options);
  }

  /** Sets the model of the agent. */
  async setSessionModel(sessionId: string, modelId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).setModel(sessionId, modelId, options);
  }

  /** Sets an option of the agent. */
  async setSessionConfigOption(
    sessionId: string,
    optionId: string,
    value: string | boolean,
    options: CallOptions = {},
  ): Promise<void> {
    return (await this.#link.sessions()).setOption(sessionId, optionId, value, options);
  }

  /** Lists the models of a session, or those of the agent if it announced none for the session. */
  async listModels(sessionId: string, options: CallOptions = {}): Promise<readonly SessionChoice[]> {
    const models = (await this.#link.sessions()).models(sessionId);
    if (models.length > 0) return models;
    return (await this.agents.models(this.#link.agent, options)).map(({ id, name }) => ({
      id,
      name: name ?? id,
    }));
  }

  /** Lists the stored sessions, and those that the agent lists if it supports that. */
  listSessions(options: CallOptions = {}): Promise<readonly SessionInfo[]> {
    return this.#link.list(options);
  }

  /** Merges metadata into that of a session; `undefined` removes a field. The agent does not receive it. */
  setMetadata(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo> {
    return this.#link.updateMetadata(sessionId, metadata);
  }

  /** Ignores a session from now on. The agent continues its turn. */
  detachSession(sessionId: string): Promise<void> {
    return this.#link.detach(sessionId);
  }

  /** Ends a session and its running turn. */
  terminateSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.#link.terminate(sessionId, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.connected) await this.disconnect();
  }
}
