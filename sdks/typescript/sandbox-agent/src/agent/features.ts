import { UnsupportedError } from "../errors.js";
import { asList, asObject, asString, type UntypedObject } from "./untyped.js";

/** A feature that only some agents support. */
export type AgentFeature = "loadSession" | "listSessions" | "forkSession" | "resumeSession" | "closeSession";

/** An agent, as it introduces itself. */
export interface ConnectedAgent {
  readonly name: string;
  readonly title: string | undefined;
  readonly version: string | undefined;
  /** The optional features that it supports. */
  readonly features: readonly AgentFeature[];
}

/** Parses the result of `initialize`. */
export function parseConnectedAgent(name: string, result: unknown): ConnectedAgent {
  const { agentInfo, agentCapabilities } = asObject(result);
  const info = asObject(agentInfo);
  const { loadSession, sessionCapabilities } = asObject(agentCapabilities);
  const session = asObject(sessionCapabilities);
  const features: AgentFeature[] = [];
  if (loadSession === true) features.push("loadSession");
  if (isAnnounced(session.list)) features.push("listSessions");
  if (isAnnounced(session.fork)) features.push("forkSession");
  if (isAnnounced(session.resume)) features.push("resumeSession");
  if (isAnnounced(session.close)) features.push("closeSession");
  return {
    name: asString(info.name) ?? name,
    title: asString(info.title),
    version: asString(info.version),
    features,
  };
}

/** Throws `UnsupportedError` unless the agent supports the feature. */
export function requireFeature(agent: ConnectedAgent, feature: AgentFeature): void {
  if (!agent.features.includes(feature)) throw new UnsupportedError(feature, agent.name);
}

function isAnnounced(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}

/** A model or a mode that can be chosen in a session. */
export interface SessionChoice {
  readonly id: string;
  readonly name: string;
}

/** The modes, models and options of a session. */
export interface SessionChoices {
  readonly modes: readonly SessionChoice[];
  readonly models: readonly SessionChoice[];
  /** The option that selects the model, for agents that treat the model as an option. */
  readonly modelOption: string | undefined;
  /** Ids of the options. */
  readonly options: readonly string[];
}

/** Parses the result of `session/new` and its variants. */
export function parseSessionChoices(result: unknown): SessionChoices {
  const { modes, models, configOptions } = asObject(result);
  const options = asList(configOptions).map(asObject);
  const modelOption = options.find(({ category }) => category === "model");
  const announced = asList(asObject(models).availableModels).map((model) =>
    parseChoice(asObject(model), "modelId"),
  );
  return {
    modes: asList(asObject(modes).availableModes).map((mode) => parseChoice(asObject(mode), "id")),
    models:
      announced.length > 0
        ? announced
        : asList(modelOption?.options).map((model) => parseChoice(asObject(model), "value")),
    modelOption: announced.length > 0 ? undefined : asString(modelOption?.id),
    options: options.flatMap(({ id }) => asString(id) ?? []),
  };
}

function parseChoice(wire: UntypedObject, key: string): SessionChoice {
  const id = asString(wire[key]) ?? "";
  return { id, name: asString(wire.name) ?? id };
}
