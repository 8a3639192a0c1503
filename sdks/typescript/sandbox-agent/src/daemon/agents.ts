import { ProblemError } from "@tombolo/acp-http-client/transport";
import type {
  Agent,
  AgentInstalled,
  AgentMode,
  AgentModel,
  InstallAgentRequest,
  InstallProgress,
} from "../generated/aliases.js";
import { type DecodedEvent, followEvents, parseData, type ServerEvent } from "../http/follow-events.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** Progress of an installation. The last event is `done`. */
export type InstallEvent =
  | { readonly type: "progress"; readonly progress: InstallProgress }
  | { readonly type: "done"; readonly installed: AgentInstalled };

/** The agents that a daemon can run. */
export class Agents {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists all agents, installed or not. */
  async list({ signal }: CallOptions = {}): Promise<readonly Agent[]> {
    return (await this.#http.json("get", "/v1/agents", { signal })).items;
  }

  /** Installs an agent, unless it is installed already. */
  install(
    agent: string,
    install: InstallAgentRequest = {},
    { signal }: CallOptions = {},
  ): Promise<AgentInstalled> {
    return this.#http.json("post", "/v1/agents/{agent}/install", { names: { agent }, json: install, signal });
  }

  /**
   * Installs an agent and reports progress. The installation continues if the caller stops reading, and a second call joins
   * it. Throws `ProblemError` if the installation fails.
   */
  installWithProgress(
    agent: string,
    install: InstallAgentRequest = {},
    { signal }: CallOptions = {},
  ): AsyncGenerator<InstallEvent, undefined, undefined> {
    const request = routeRequest("post", "/v1/agents/{agent}/install", { names: { agent }, json: install });
    const decode = (event: ServerEvent): DecodedEvent<InstallEvent> => {
      switch (event.event) {
        case "progress":
          return { item: { type: "progress", progress: parseData(event) } };
        case "done":
          return { item: { type: "done", installed: parseData(event) }, last: true };
        case "failed":
          throw new ProblemError(parseData(event));
        default:
          return undefined;
      }
    };
    return followEvents<InstallEvent>(this.#http, { request, signal, decode });
  }

  /** Lists the models of an agent. */
  async models(agent: string, { signal }: CallOptions = {}): Promise<readonly AgentModel[]> {
    return (await this.#http.json("get", "/v1/agents/{agent}/models", { names: { agent }, signal })).items;
  }

  /** Lists the modes of an agent. */
  async modes(agent: string, { signal }: CallOptions = {}): Promise<readonly AgentMode[]> {
    return (await this.#http.json("get", "/v1/agents/{agent}/modes", { names: { agent }, signal })).modes;
  }
}
