import { SessionEndedError, UnsupportedError } from "../errors.js";
import type { CallOptions } from "../options.js";
import type { SessionMetadata } from "../store/store.js";
import type { Book, SessionInfo } from "./book.js";
import type { Connection } from "./connection.js";
import type { ContentPart } from "./events.js";
import {
  type ConnectedAgent,
  choicesOf,
  type Feature,
  need,
  type SessionChoice,
  type SessionChoices,
} from "./features.js";
import { promptOf } from "./updates.js";
import { fields, list, text } from "./wire.js";

/** An MCP server that a session is given. */
export type SessionMcpServer =
  | {
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
    }
  | {
      readonly type: "http" | "sse";
      readonly name: string;
      readonly url: string;
      readonly headers: readonly { readonly name: string; readonly value: string }[];
    };

/** What a session is begun with. */
export interface BeginSession extends SessionMetadata {
  /** The directory that the agent works in, as an absolute path. */
  readonly directory: string;
  readonly mcpServers?: readonly SessionMcpServer[] | undefined;
}

/** Why a turn ended. */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** Sessions of the agent that is connected. */
export class AgentSessions {
  readonly #connection: Connection;
  readonly #agent: ConnectedAgent;
  readonly #name: string;
  readonly #book: Book;
  readonly #choices = new Map<string, SessionChoices>();

  constructor(connection: Connection, agent: ConnectedAgent, name: string, book: Book) {
    this.#connection = connection;
    this.#agent = agent;
    this.#name = name;
    this.#book = book;
  }

  async begin(
    { directory, mcpServers = [], ...metadata }: BeginSession,
    { signal }: CallOptions,
  ): Promise<SessionInfo> {
    const answer = await this.#connection.ask("session/new", { cwd: directory, mcpServers }, signal);
    const sessionId = text(fields(answer).sessionId) ?? "";
    const choices = choicesOf(answer);
    this.#choices.set(sessionId, choices);
    const info = await this.#book.open({ sessionId, agent: this.#name, directory }, metadata);
    const { mode, model } = metadata;
    if (choices.modes.some(({ id }) => id === mode)) await this.setMode(sessionId, mode ?? "", { signal });
    if (choices.models.some(({ id }) => id === model))
      await this.setModel(sessionId, model ?? "", { signal });
    return info;
  }

  /** Goes on with a session that the agent knows: by loading it, resuming it, or as a fork of it. */
  async goOn(
    feature: Extract<Feature, "loadSession" | "resumeSession" | "forkSession">,
    sessionId: string,
    { directory, mcpServers = [], ...metadata }: BeginSession,
    { signal }: CallOptions,
  ): Promise<SessionInfo> {
    need(this.#agent, feature);
    // What the agent tells again is counted; so it is kept before it is asked.
    if (feature === "loadSession")
      await this.#book.open({ sessionId, agent: this.#name, directory }, metadata);
    const params = { sessionId, cwd: directory, mcpServers };
    const answer = await this.#connection.hearOut(METHODS[feature], params, signal);
    const id = feature === "forkSession" ? (text(fields(answer).sessionId) ?? "") : sessionId;
    this.#choices.set(id, choicesOf(answer));
    return this.#book.open({ sessionId: id, agent: this.#name, directory }, metadata);
  }

  async prompt(
    sessionId: string,
    content: string | readonly ContentPart[],
    { signal }: CallOptions,
  ): Promise<{ readonly stopReason: StopReason }> {
    this.#check(sessionId);
    const params = { sessionId, prompt: promptOf(content) };
    const answer = fields(await this.#connection.hearOut("session/prompt", params, signal));
    return { stopReason: (text(answer.stopReason) ?? "end_turn") as StopReason };
  }

  cancel(sessionId: string, { signal }: CallOptions): Promise<void> {
    return this.#connection.tell("session/cancel", { sessionId }, signal);
  }

  async setMode(sessionId: string, modeId: string, { signal }: CallOptions): Promise<void> {
    this.#check(sessionId);
    if (this.#choices.get(sessionId)?.modes.length === 0)
      throw new UnsupportedError("setSessionMode", this.#name);
    await this.#connection.ask("session/set_mode", { sessionId, modeId }, signal);
    await this.#book.describe(sessionId, { mode: modeId });
  }

  async setModel(sessionId: string, modelId: string, { signal }: CallOptions): Promise<void> {
    this.#check(sessionId);
    const choices = this.#choices.get(sessionId);
    if (choices?.models.length === 0) throw new UnsupportedError("setSessionModel", this.#name);
    if (choices?.modelOption === undefined) {
      await this.#connection.ask("session/set_model", { sessionId, modelId }, signal);
    } else {
      await this.#setOption(sessionId, choices.modelOption, modelId, signal);
    }
    await this.#book.describe(sessionId, { model: modelId });
  }

  async setOption(
    sessionId: string,
    optionId: string,
    value: unknown,
    { signal }: CallOptions,
  ): Promise<void> {
    this.#check(sessionId);
    if (this.#choices.get(sessionId)?.options.length === 0) {
      throw new UnsupportedError("setSessionConfigOption", this.#name);
    }
    await this.#setOption(sessionId, optionId, value, signal);
  }

  /** The models that can be chosen in a session, if the agent says so there. */
  models(sessionId: string): readonly SessionChoice[] {
    return this.#choices.get(sessionId)?.models ?? [];
  }

  /** What the agent lists, if it can; none otherwise. */
  async listed({
    signal,
  }: CallOptions): Promise<readonly { sessionId: string; directory: string; title?: string }[]> {
    if (!this.#agent.features.includes("listSessions")) return [];
    const { sessions } = fields(await this.#connection.ask("session/list", {}, signal));
    return list(sessions).map((session) => {
      const { sessionId, cwd, title } = fields(session);
      const named = text(title) === undefined ? {} : { title: text(title) ?? "" };
      return { sessionId: text(sessionId) ?? "", directory: text(cwd) ?? "", ...named };
    });
  }

  /** Ends what the agent does in a session, and the session where the agent can. */
  async terminate(sessionId: string, { signal }: CallOptions): Promise<void> {
    await this.cancel(sessionId, { signal });
    if (this.#agent.features.includes("closeSession")) {
      await this.#connection.ask("session/close", { sessionId }, signal);
    }
  }

  async #setOption(
    sessionId: string,
    configId: string,
    value: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
    await this.#connection.ask("session/set_config_option", { sessionId, configId, ...typed }, signal);
  }

  #check(sessionId: string): void {
    if (this.#book.hasEnded(sessionId)) throw new SessionEndedError(sessionId);
  }
}

const METHODS = {
  loadSession: "session/load",
  resumeSession: "session/resume",
  forkSession: "session/fork",
} as const;
