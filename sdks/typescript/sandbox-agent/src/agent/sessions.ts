import { SessionEndedError, UnsupportedError } from "../errors.js";
import type { CallOptions } from "../options.js";
import type { SessionMetadata } from "../store/store.js";
import type { AgentConnection } from "./connection.js";
import type { ContentPart } from "./events.js";
import {
  type AgentFeature,
  type ConnectedAgent,
  parseSessionChoices,
  requireFeature,
  type SessionChoice,
  type SessionChoices,
} from "./features.js";
import type { SessionInfo, SessionTracker } from "./session-tracker.js";
import { asList, asObject, asString } from "./untyped.js";
import { toPrompt } from "./updates.js";

/** An MCP server for the agent of a session. */
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

/** Options of a session that is created, loaded, resumed or forked. */
export interface SessionOptions extends SessionMetadata {
  /** Working directory of the agent, as an absolute path. */
  readonly directory: string;
  readonly mcpServers?: readonly SessionMcpServer[] | undefined;
}

/** Why a turn ended. */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

/** The sessions of a connected agent. */
export class AgentSessions {
  readonly #connection: AgentConnection;
  readonly #agent: ConnectedAgent;
  readonly #agentName: string;
  readonly #tracker: SessionTracker;
  readonly #choices = new Map<string, SessionChoices>();

  constructor(connection: AgentConnection, agent: ConnectedAgent, name: string, tracker: SessionTracker) {
    this.#connection = connection;
    this.#agent = agent;
    this.#agentName = name;
    this.#tracker = tracker;
  }

  async create(
    { directory, mcpServers = [], ...metadata }: SessionOptions,
    { signal }: CallOptions,
  ): Promise<SessionInfo> {
    const result = await this.#connection.request("session/new", { cwd: directory, mcpServers }, signal);
    const sessionId = asString(asObject(result).sessionId) ?? "";
    const choices = parseSessionChoices(result);
    this.#choices.set(sessionId, choices);
    const info = await this.#tracker.open({ sessionId, agent: this.#agentName, directory }, metadata);
    const { mode, model } = metadata;
    if (choices.modes.some(({ id }) => id === mode)) await this.setMode(sessionId, mode ?? "", { signal });
    if (choices.models.some(({ id }) => id === model))
      await this.setModel(sessionId, model ?? "", { signal });
    return info;
  }

  /** Loads, resumes or forks a session that the agent knows. */
  async reopen(
    feature: Extract<AgentFeature, "loadSession" | "resumeSession" | "forkSession">,
    sessionId: string,
    { directory, mcpServers = [], ...metadata }: SessionOptions,
    { signal }: CallOptions,
  ): Promise<SessionInfo> {
    requireFeature(this.#agent, feature);
    // The agent replays the session before it answers. Tracking must start earlier, so that these events are counted.
    if (feature === "loadSession")
      await this.#tracker.open({ sessionId, agent: this.#agentName, directory }, metadata);
    const params = { sessionId, cwd: directory, mcpServers };
    const result = await this.#connection.requestAndDrain(METHODS[feature], params, signal);
    const id = feature === "forkSession" ? (asString(asObject(result).sessionId) ?? "") : sessionId;
    this.#choices.set(id, parseSessionChoices(result));
    return this.#tracker.open({ sessionId: id, agent: this.#agentName, directory }, metadata);
  }

  async prompt(
    sessionId: string,
    content: string | readonly ContentPart[],
    { signal }: CallOptions,
  ): Promise<{ readonly stopReason: StopReason }> {
    this.#requireLive(sessionId);
    const params = { sessionId, prompt: toPrompt(content) };
    const result = asObject(await this.#connection.requestAndDrain("session/prompt", params, signal));
    return { stopReason: (asString(result.stopReason) ?? "end_turn") as StopReason };
  }

  cancel(sessionId: string, { signal }: CallOptions): Promise<void> {
    return this.#connection.notify("session/cancel", { sessionId }, signal);
  }

  async setMode(sessionId: string, modeId: string, { signal }: CallOptions): Promise<void> {
    this.#requireLive(sessionId);
    if (this.#choices.get(sessionId)?.modes.length === 0)
      throw new UnsupportedError("setSessionMode", this.#agentName);
    await this.#connection.request("session/set_mode", { sessionId, modeId }, signal);
    await this.#tracker.updateMetadata(sessionId, { mode: modeId });
  }

  async setModel(sessionId: string, modelId: string, { signal }: CallOptions): Promise<void> {
    this.#requireLive(sessionId);
    const choices = this.#choices.get(sessionId);
    if (choices?.models.length === 0) throw new UnsupportedError("setSessionModel", this.#agentName);
    if (choices?.modelOption === undefined) {
      await this.#connection.request("session/set_model", { sessionId, modelId }, signal);
    } else {
      await this.#setOption(sessionId, choices.modelOption, modelId, signal);
    }
    await this.#tracker.updateMetadata(sessionId, { model: modelId });
  }

  async setOption(
    sessionId: string,
    optionId: string,
    value: unknown,
    { signal }: CallOptions,
  ): Promise<void> {
    this.#requireLive(sessionId);
    if (this.#choices.get(sessionId)?.options.length === 0) {
      throw new UnsupportedError("setSessionConfigOption", this.#agentName);
    }
    await this.#setOption(sessionId, optionId, value, signal);
  }

  /** The models of a session, if the agent announced them for it. */
  models(sessionId: string): readonly SessionChoice[] {
    return this.#choices.get(sessionId)?.models ?? [];
  }

  /** The sessions that the agent lists; none if it does not support that. */
  async list({
    signal,
  }: CallOptions): Promise<readonly { sessionId: string; directory: string; title?: string }[]> {
    if (!this.#agent.features.includes("listSessions")) return [];
    const { sessions } = asObject(await this.#connection.request("session/list", {}, signal));
    return asList(sessions).map((session) => {
      const { sessionId, cwd, title } = asObject(session);
      const named = asString(title) === undefined ? {} : { title: asString(title) ?? "" };
      return { sessionId: asString(sessionId) ?? "", directory: asString(cwd) ?? "", ...named };
    });
  }

  /** Cancels the running turn, and closes the session if the agent supports that. */
  async terminate(sessionId: string, { signal }: CallOptions): Promise<void> {
    await this.cancel(sessionId, { signal });
    if (this.#agent.features.includes("closeSession")) {
      await this.#connection.request("session/close", { sessionId }, signal);
    }
  }

  async #setOption(
    sessionId: string,
    configId: string,
    value: unknown,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const typed = typeof value === "boolean" ? { type: "boolean", value } : { value };
    await this.#connection.request("session/set_config_option", { sessionId, configId, ...typed }, signal);
  }

  #requireLive(sessionId: string): void {
    if (this.#tracker.hasEnded(sessionId)) throw new SessionEndedError(sessionId);
  }
}

const METHODS = {
  loadSession: "session/load",
  resumeSession: "session/resume",
  forkSession: "session/fork",
} as const;
