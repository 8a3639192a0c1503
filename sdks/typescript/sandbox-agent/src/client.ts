import type { SessionInfo } from "./agent/book.js";
import type { AgentEvent, ContentPart, Handlers } from "./agent/events.js";
import type { ConnectedAgent, SessionChoice } from "./agent/features.js";
import { AgentLink, type ConnectOptions, type DisconnectOptions } from "./agent/link.js";
import type { BeginSession, StopReason } from "./agent/sessions.js";
import { Agents } from "./daemon/agents.js";
import { Config } from "./daemon/config.js";
import { Files } from "./daemon/files.js";
import { Processes } from "./daemon/processes.js";
import { Sessions } from "./daemon/sessions.js";
import { Waits } from "./daemon/waits.js";
import { Http } from "./http/http.js";
import type { CallOptions, ServerOptions } from "./options.js";
import type { SessionMetadata, SessionStore } from "./store/store.js";
import type { Health } from "./types/daemon.js";

/** Which sandbox is spoken to, and which agent in it. */
export interface SandboxAgentOptions extends ServerOptions, Handlers {
  /** The agent to connect to, such as `claude`. Without one, only that can be used which needs no connection. */
  readonly agent?: string | undefined;
  /** Whether the client connects by itself. True if left out, as far as an agent is named. */
  readonly autoConnect?: boolean | undefined;
  /** The name of the agent's process on the server; made up if left out. Who has the same name shares the process. */
  readonly instanceId?: string | undefined;
  /**
   * How long the agent's process goes on when nobody is connected to it, as after a crash, until the server ends it.
   * For ever if left out, or a day if `instanceId` is too, as nobody else could connect to it then.
   */
  readonly lingerMs?: number | undefined;
  /** Where what is known of sessions is kept; in memory if left out. */
  readonly store?: SessionStore | undefined;
}

/**
 * A sandbox, and one agent in it.
 *
 * `sessions`, `waits`, `agents`, `files`, `config` and `processes` need no connection. The methods of the client
 * itself speak to one agent, over at most one connection: they fail with `NotConnectedError` where there is none, with
 * `UnsupportedError` where the agent cannot do it, with `AgentFailedError` where it says no, and as requests do.
 */
export class SandboxAgentClient {
  /** Sessions with any agent, which the server keeps. */
  readonly sessions: Sessions;
  /** What waits for a person, in all of these. */
  readonly waits: Waits;
  /** The agents that there are. */
  readonly agents: Agents;
  /** The files of the sandbox. */
  readonly files: Files;
  /** What agents are given in a directory. */
  readonly config: Config;
  /** The processes of the sandbox. */
  readonly processes: Processes;
  readonly #http: Http;
  readonly #link: AgentLink;

  constructor(options: SandboxAgentOptions) {
    const http = new Http(options);
    this.sessions = new Sessions(http);
    this.waits = new Waits(http);
    this.agents = new Agents(http);
    this.files = new Files(http);
    this.config = new Config(http);
    this.processes = new Processes(http);
    this.#http = http;
    this.#link = new AgentLink(options);
    if ((options.autoConnect ?? true) && options.agent !== undefined) this.#link.connectAlone();
  }

  /** Whether there is a connection, or one is being made. */
  get connected(): boolean {
    return this.#link.connected;
  }

  /** Whether the server is there. */
  health({ signal }: CallOptions = {}): Promise<Health> {
    return this.#http.json("get", "/v1/health", { signal });
  }

  /** Connects to the agent, which is started if it does not run. Throws `AlreadyConnectedError` if it is. */
  connect(options: ConnectOptions = {}): Promise<ConnectedAgent> {
    return this.#link.connect(options);
  }

  /**
   * Closes the connection and ends the agent, unless that is to go on, within a second. Fails with `ConnectionError` if
   * the server does not say in time that the agent has ended; there is no connection any more in either case.
   */
  disconnect(options: DisconnectOptions = {}): Promise<void> {
    return this.#link.disconnect(options);
  }

  /**
   * What the agent says from now on, and what becomes of its sessions, until the client is disconnected.
   *
   * The slowest reader holds back the rest. So a reader must not wait for `prompt` or `loadSession` between two events.
   */
  events({ signal }: CallOptions = {}): AsyncGenerator<AgentEvent, undefined, undefined> {
    return this.#link.events(signal);
  }

  /** Begins a session. Of `mode` and `model` what the agent offers is chosen. */
  async newSession(session: BeginSession, options: CallOptions = {}): Promise<SessionInfo> {
    return (await this.#link.sessions()).begin(session, options);
  }

  /** Goes on with a session; the agent tells again what was said in it. */
  async loadSession(
    sessionId: string,
    session: BeginSession,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).goOn("loadSession", sessionId, session, options);
  }

  /** Goes on with a session, without hearing again what was said in it. */
  async resumeSession(
    sessionId: string,
    session: BeginSession,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).goOn("resumeSession", sessionId, session, options);
  }

  /** Begins a session that knows what was said in another. */
  async forkSession(
    sessionId: string,
    session: BeginSession,
    options: CallOptions = {},
  ): Promise<SessionInfo> {
    return (await this.#link.sessions()).goOn("forkSession", sessionId, session, options);
  }

  /**
   * Says something, and waits until the turn is over and those who read `events` have taken all of it. Whoever gives
   * up waiting does not end the turn.
   */
  async prompt(
    sessionId: string,
    content: string | readonly ContentPart[],
    options: CallOptions = {},
  ): Promise<{ readonly stopReason: StopReason }> {
    return (await this.#link.sessions()).prompt(sessionId, content, options);
  }

  /** Ends the turn that runs. Its `prompt` ends with `cancelled`. */
  async cancel(sessionId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).cancel(sessionId, options);
  }

  /** Has the agent behave in another way. */
  async setSessionMode(sessionId: string, modeId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).setMode(sessionId, modeId, options);
  }

  /** Has the agent use another model. */
  async setSessionModel(sessionId: string, modelId: string, options: CallOptions = {}): Promise<void> {
    return (await this.#link.sessions()).setModel(sessionId, modelId, options);
  }

  /** Sets an option that the agent has. */
  async setSessionConfigOption(
    sessionId: string,
    optionId: string,
    value: string | boolean,
    options: CallOptions = {},
  ): Promise<void> {
    return (await this.#link.sessions()).setOption(sessionId, optionId, value, options);
  }

  /** The models that can be chosen in a session; those of the agent if it does not say. */
  async listModels(sessionId: string, options: CallOptions = {}): Promise<readonly SessionChoice[]> {
    const models = (await this.#link.sessions()).models(sessionId);
    if (models.length > 0) return models;
    return (await this.agents.models(this.#link.agent, options)).map(({ id, name }) => ({
      id,
      name: name ?? id,
    }));
  }

  /** The sessions that are known here, and those that the agent lists, if it can. */
  listSessions(options: CallOptions = {}): Promise<readonly SessionInfo[]> {
    return this.#link.list(options);
  }

  /** Adds to what a session is known by; what is `undefined` is taken away. It is kept here: the agent is not told. */
  setMetadata(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo> {
    return this.#link.describe(sessionId, metadata);
  }

  /** Has no more to do with a session. The agent goes on with what it does. */
  detachSession(sessionId: string): Promise<void> {
    return this.#link.detach(sessionId);
  }

  /** Ends a session, and what the agent does in it. */
  terminateSession(sessionId: string, options: CallOptions = {}): Promise<void> {
    return this.#link.terminate(sessionId, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.connected) await this.disconnect();
  }
}
