import { ConnectionError, randomId } from "@tombolo/acp-http-client/transport";
import { AlreadyConnectedError, NotConnectedError } from "../errors.js";
import type { CallOptions, ServerOptions } from "../options.js";
import { MemoryStore } from "../store/memory.js";
import type { SessionMetadata, SessionStore } from "../store/store.js";
import type { AgentEvent, AgentRequestHandlers } from "./events.js";
import { Fanout } from "./fanout.js";
import type { ConnectedAgent } from "./features.js";
import type { OpenLink } from "./open-link.js";
import { type SessionInfo, SessionTracker } from "./session-tracker.js";
import type { AgentSessions } from "./sessions.js";

/** How long an agent that no other client can know about survives its client: long enough for a closed laptop. */
const LINGER_MS = 24 * 3_600_000;

/** The agent of a client. */
export interface AgentLinkOptions extends ServerOptions, AgentRequestHandlers {
  readonly agent?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly lingerMs?: number | undefined;
  readonly store?: SessionStore | undefined;
}

/** Options for connecting. */
export interface ConnectOptions {
  /** The agent. Default: that of the client. */
  readonly agent?: string | undefined;
}

/** Options for disconnecting. */
export interface DisconnectOptions {
  /** Whether the agent keeps running, for clients that connect with the same `instanceId`. Default: false. */
  readonly keepAgent?: boolean | undefined;
}

/** The connection of a client to its agent. There is at most one at a time. */
export class AgentLink {
  readonly #options: AgentLinkOptions;
  readonly #instanceId: string;
  readonly #tracker: SessionTracker;
  readonly #events = new Fanout<AgentEvent>();
  #agent: string | undefined;
  #link: Promise<OpenLink> | undefined;
  #stop = new AbortController();
  #keepsAgent = false;
  /** Why connecting automatically failed. */
  #connectFailure: unknown;

  constructor(options: AgentLinkOptions) {
    this.#options = options;
    this.#agent = options.agent;
    this.#instanceId = options.instanceId ?? randomId();
    this.#tracker = new SessionTracker(options.store ?? new MemoryStore());
  }

  get connected(): boolean {
    return this.#link !== undefined;
  }

  /** The last agent that the client connected to. */
  get agent(): string {
    return this.#agent ?? "";
  }

  /** Connects in the background. The next call that needs the connection reports a failure. */
  connectInBackground(): void {
    this.connect({}).catch((failure: unknown) => {
      this.#connectFailure = failure;
    });
  }

  async connect({ agent = this.#options.agent }: ConnectOptions): Promise<ConnectedAgent> {
    if (this.#link !== undefined) throw new AlreadyConnectedError();
    if (agent === undefined) throw new TypeError("there is no agent to connect to: pass the option `agent`");
    this.#agent = agent;
    this.#connectFailure = undefined;
    this.#stop = new AbortController();
    this.#keepsAgent = false;
    const link = this.#open(agent);
    this.#link = link;
    try {
      return (await link).agent;
    } catch (failure) {
      if (this.#link === link) this.#link = undefined;
      throw failure;
    }
  }

  /** Throws if the server does not confirm that the agent has ended; the client is disconnected in either case. */
  async disconnect({ keepAgent = false }: DisconnectOptions): Promise<void> {
    const link = this.#current();
    this.#link = undefined;
    this.#keepsAgent = keepAgent;
    this.#stop.abort(new NotConnectedError());
    try {
      // If connecting is not complete, the abort makes it fail, and it closes what it has opened.
      const open = await link.catch((failure: unknown) => {
        if (failure instanceof ConnectionError) throw failure;
      });
      await open?.connection.close(!keepAgent);
    } finally {
      for (const sessionId of this.#tracker.liveSessionIds) await this.#tracker.close(sessionId);
    }
  }

  /** The sessions of the agent. Waits until the client is connected. */
  async sessions(): Promise<AgentSessions> {
    return (await this.#current()).sessions;
  }

  events(signal: AbortSignal | undefined): AsyncGenerator<AgentEvent, undefined, undefined> {
    this.#current();
    return this.#events.read(signal);
  }

  async list(options: CallOptions): Promise<readonly SessionInfo[]> {
    const sessions = await this.sessions();
    const stored = await this.#tracker.list();
    const ids = new Set(stored.map(({ sessionId }) => sessionId));
    const listed = (await sessions.list(options)).filter(({ sessionId }) => !ids.has(sessionId));
    for (const { sessionId, directory, ...metadata } of listed) {
      await this.#tracker.open({ sessionId, agent: this.agent, directory }, metadata);
      await this.#tracker.close(sessionId);
    }
    return listed.length === 0 ? stored : this.#tracker.list();
  }

  async updateMetadata(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo> {
    await this.sessions();
    const info = await this.#tracker.updateMetadata(sessionId, metadata);
    if (info === undefined) throw new RangeError(`the session \`${sessionId}\` is unknown`);
    return info;
  }

  async detach(sessionId: string): Promise<void> {
    await this.sessions();
    await this.#tracker.detach(sessionId);
  }

  async terminate(sessionId: string, options: CallOptions): Promise<void> {
    await (await this.sessions()).terminate(sessionId, options);
    if (!this.#tracker.hasEnded(sessionId))
      await this.#onEvent({ type: "sessionEnded", sessionId, reason: "terminated" });
    await this.#tracker.flush();
  }

  #current(): Promise<OpenLink> {
    if (this.#link !== undefined) return this.#link;
    throw new NotConnectedError(
      this.#connectFailure === undefined ? undefined : { cause: this.#connectFailure },
    );
  }

  async #open(agent: string): Promise<OpenLink> {
    const { signal } = this.#stop;
    const { openLink } = await this.#load();
    const { instanceId, lingerMs = instanceId === undefined ? LINGER_MS : undefined } = this.#options;
    return openLink(
      {
        server: this.#options,
        agent,
        instanceId: this.#instanceId,
        lingerMs,
        handlers: this.#options,
        signal,
        endsAgent: () => !this.#keepsAgent,
        sessions: () => this.#tracker.liveSessionIds,
        onEvent: (event) => this.#onEvent(event),
        drained: () => this.#events.drained(signal),
        onEnd: (failure) => this.#events.end(failure),
      },
      this.#tracker,
    );
  }

  /** Loads the ACP code with the first connection, as many clients never connect to an agent. */
  async #load(): Promise<typeof import("./open-link.js")> {
    try {
      return await import("./open-link.js");
    } catch (reason) {
      this.#events.end({ reason });
      throw reason;
    }
  }

  #onEvent(event: AgentEvent): Promise<unknown> | undefined {
    if (event.type === "sessionUpdate") {
      if (this.#tracker.isDetached(event.sessionId)) return undefined;
      this.#tracker.countEvent(event.sessionId);
    }
    if (event.type === "sessionEnded") this.#tracker.markEnded(event.sessionId);
    this.#events.push(event);
    return this.#events.room(this.#stop.signal);
  }
}
