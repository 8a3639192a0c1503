import { ConnectionError } from "@tombolo/acp-http-client/transport";
import { AlreadyConnectedError, NotConnectedError } from "../errors.js";
import { randomName } from "../names.js";
import type { CallOptions, ServerOptions } from "../options.js";
import { MemoryStore } from "../store/memory.js";
import type { SessionMetadata, SessionStore } from "../store/store.js";
import { Book, type SessionInfo } from "./book.js";
import type { AgentEvent, Handlers } from "./events.js";
import { Fanout } from "./fanout.js";
import type { ConnectedAgent } from "./features.js";
import type { Linked } from "./linked.js";
import type { AgentSessions } from "./sessions.js";

/** How long an agent that only one client knows of outlives that client: nights of people, and of their laptops. */
const LINGER_MS = 24 * 3_600_000;

/** Which agent a client is linked to. */
export interface LinkOptions extends ServerOptions, Handlers {
  readonly agent?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly lingerMs?: number | undefined;
  readonly store?: SessionStore | undefined;
}

/** What a client connects to. */
export interface ConnectOptions {
  /** The agent; that of the client if left out. */
  readonly agent?: string | undefined;
}

/** How a client leaves. */
export interface DisconnectOptions {
  /** Whether the agent goes on, for whoever connects to it by its `instanceId`. */
  readonly keepAgent?: boolean | undefined;
}

/** The one connection that a client may have. */
export class AgentLink {
  readonly #options: LinkOptions;
  readonly #instanceId: string;
  readonly #book: Book;
  readonly #events = new Fanout<AgentEvent>();
  #agent: string | undefined;
  #linked: Promise<Linked> | undefined;
  #stop = new AbortController();
  #keepsAgent = false;
  /** Why the client could not connect by itself. */
  #failure: unknown;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#agent = options.agent;
    this.#instanceId = options.instanceId ?? randomName();
    this.#book = new Book(options.store ?? new MemoryStore());
  }

  get connected(): boolean {
    return this.#linked !== undefined;
  }

  /** The agent that was connected to last. */
  get agent(): string {
    return this.#agent ?? "";
  }

  /** Connects without anybody waiting for it: who uses the connection is told if it fails. */
  connectAlone(): void {
    this.connect({}).catch((failure: unknown) => {
      this.#failure = failure;
    });
  }

  async connect({ agent = this.#options.agent }: ConnectOptions): Promise<ConnectedAgent> {
    if (this.#linked !== undefined) throw new AlreadyConnectedError();
    if (agent === undefined) throw new TypeError("say which agent to connect to: `agent`");
    this.#agent = agent;
    this.#failure = undefined;
    this.#stop = new AbortController();
    this.#keepsAgent = false;
    const linked = this.#open(agent);
    this.#linked = linked;
    try {
      return (await linked).agent;
    } catch (failure) {
      if (this.#linked === linked) this.#linked = undefined;
      throw failure;
    }
  }

  /** Fails if the server does not say that the agent has ended; there is no connection any more in either case. */
  async disconnect({ keepAgent = false }: DisconnectOptions): Promise<void> {
    const linked = this.#current();
    this.#linked = undefined;
    this.#keepsAgent = keepAgent;
    this.#stop.abort(new NotConnectedError());
    try {
      // One that was not made yet is closed by whoever makes it.
      const made = await linked.catch((failure: unknown) => {
        if (failure instanceof ConnectionError) throw failure;
      });
      await made?.connection.close(!keepAgent);
    } finally {
      for (const sessionId of this.#book.live) await this.#book.close(sessionId);
    }
  }

  /** The sessions of the agent, once it is connected. */
  async sessions(): Promise<AgentSessions> {
    return (await this.#current()).sessions;
  }

  events(signal: AbortSignal | undefined): AsyncGenerator<AgentEvent, undefined, undefined> {
    this.#current();
    return this.#events.read(signal);
  }

  async list(options: CallOptions): Promise<readonly SessionInfo[]> {
    const sessions = await this.sessions();
    const known = await this.#book.list();
    const ids = new Set(known.map(({ sessionId }) => sessionId));
    const listed = (await sessions.listed(options)).filter(({ sessionId }) => !ids.has(sessionId));
    for (const { sessionId, directory, ...metadata } of listed) {
      await this.#book.open({ sessionId, agent: this.agent, directory }, metadata);
      await this.#book.close(sessionId);
    }
    return listed.length === 0 ? known : this.#book.list();
  }

  async describe(sessionId: string, metadata: SessionMetadata): Promise<SessionInfo> {
    await this.sessions();
    const info = await this.#book.describe(sessionId, metadata);
    if (info === undefined) throw new RangeError(`nothing is known of the session \`${sessionId}\``);
    return info;
  }

  async detach(sessionId: string): Promise<void> {
    await this.sessions();
    await this.#book.detach(sessionId);
  }

  async terminate(sessionId: string, options: CallOptions): Promise<void> {
    await (await this.sessions()).terminate(sessionId, options);
    if (!this.#book.hasEnded(sessionId))
      await this.#hear({ type: "sessionEnded", sessionId, reason: "terminated" });
    await this.#book.written();
  }

  #current(): Promise<Linked> {
    if (this.#linked !== undefined) return this.#linked;
    throw new NotConnectedError(this.#failure === undefined ? undefined : { cause: this.#failure });
  }

  async #open(agent: string): Promise<Linked> {
    const { signal } = this.#stop;
    const { linkTo } = await this.#load();
    const { instanceId, lingerMs = instanceId === undefined ? LINGER_MS : undefined } = this.#options;
    return linkTo(
      {
        server: this.#options,
        agent,
        instanceId: this.#instanceId,
        lingerMs,
        handlers: this.#options,
        signal,
        endsAgent: () => !this.#keepsAgent,
        sessions: () => this.#book.live,
        onEvent: (event) => this.#hear(event),
        taken: () => this.#events.taken(signal),
        onEnd: (failure) => this.#events.end(failure),
      },
      this.#book,
    );
  }

  /** What speaks to agents is loaded when it is first needed: many never connect to one. */
  async #load(): Promise<typeof import("./linked.js")> {
    try {
      return await import("./linked.js");
    } catch (reason) {
      this.#events.end({ reason });
      throw reason;
    }
  }

  #hear(event: AgentEvent): Promise<unknown> | undefined {
    if (event.type === "sessionUpdate") {
      if (this.#book.isDetached(event.sessionId)) return undefined;
      this.#book.count(event.sessionId);
    }
    if (event.type === "sessionEnded") this.#book.end(event.sessionId);
    this.#events.push(event);
    return this.#events.room(this.#stop.signal);
  }
}
