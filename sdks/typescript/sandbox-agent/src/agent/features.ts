import { UnsupportedError } from "../errors.js";
import { type Fields, fields, list, text } from "./wire.js";

/** What only some agents can do. */
export type Feature = "loadSession" | "listSessions" | "forkSession" | "resumeSession" | "closeSession";

/** An agent, as it says itself. */
export interface ConnectedAgent {
  readonly name: string;
  readonly title: string | undefined;
  readonly version: string | undefined;
  /** What it can do of that which only some agents can. */
  readonly features: readonly Feature[];
}

/** What an agent says to `initialize`. */
export function agentOf(name: string, answer: unknown): ConnectedAgent {
  const { agentInfo, agentCapabilities } = fields(answer);
  const info = fields(agentInfo);
  const { loadSession, sessionCapabilities } = fields(agentCapabilities);
  const can = fields(sessionCapabilities);
  const features: Feature[] = [];
  if (loadSession === true) features.push("loadSession");
  if (isThere(can.list)) features.push("listSessions");
  if (isThere(can.fork)) features.push("forkSession");
  if (isThere(can.resume)) features.push("resumeSession");
  if (isThere(can.close)) features.push("closeSession");
  return { name: text(info.name) ?? name, title: text(info.title), version: text(info.version), features };
}

/** Throws unless the agent can do it. */
export function need(agent: ConnectedAgent, feature: Feature): void {
  if (!agent.features.includes(feature)) throw new UnsupportedError(feature, agent.name);
}

function isThere(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}

/** A model or a mode that can be chosen in a session. */
export interface SessionChoice {
  readonly id: string;
  readonly name: string;
}

/** What can be chosen in a session. */
export interface SessionChoices {
  readonly modes: readonly SessionChoice[];
  readonly models: readonly SessionChoice[];
  /** The option that chooses the model, of agents that have it as an option. */
  readonly modelOption: string | undefined;
  /** The options that can be set. */
  readonly options: readonly string[];
}

/** What an agent says when a session begins. */
export function choicesOf(answer: unknown): SessionChoices {
  const { modes, models, configOptions } = fields(answer);
  const options = list(configOptions).map(fields);
  const option = options.find(({ category }) => category === "model");
  const own = list(fields(models).availableModels).map((model) => choice(fields(model), "modelId"));
  return {
    modes: list(fields(modes).availableModes).map((mode) => choice(fields(mode), "id")),
    models: own.length > 0 ? own : list(option?.options).map((model) => choice(fields(model), "value")),
    modelOption: own.length > 0 ? undefined : text(option?.id),
    options: options.flatMap(({ id }) => text(id) ?? []),
  };
}

function choice(wire: Fields, key: string): SessionChoice {
  const id = text(wire[key]) ?? "";
  return { id, name: text(wire.name) ?? id };
}
