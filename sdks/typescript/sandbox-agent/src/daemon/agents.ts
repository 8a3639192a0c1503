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

/** Where the agent is asked what it offers. */
export interface OfferOptions extends CallOptions {
  /** The directory of the session. Some agents read modes and models from the project. */
  readonly directory?: string;
}

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

  /** Lists the models that an agent can use in a directory, by default that of the daemon. */
  async models(agent: string, { directory, signal }: OfferOptions = {}): Promise<readonly AgentModel[]> {
    const options = { names: { agent }, query: { directory }, signal };
    return (await this.#http.json("get", "/v1/agents/{agent}/models", options)).items;
  }

  /** Lists the modes that sessions of an agent accept in a directory, by default that of the daemon. */
  async modes(agent: string, { directory, signal }: OfferOptions = {}): Promise<readonly AgentMode[]> {
    const options = { names: { agent }, query: { directory }, signal };
    return (await this.#http.json("get", "/v1/agents/{agent}/modes", options)).modes;
  }
}
