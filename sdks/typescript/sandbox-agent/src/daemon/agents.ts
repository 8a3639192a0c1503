import { ProblemError } from "@tombolo/acp-http-client/transport";
import { follow, parsed, type Said, type ServerEvent } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type {
  Agent,
  AgentMode,
  AgentModel,
  InstallAgent,
  InstalledAgent,
  InstallProgress,
} from "../types/daemon.js";

/** How far an installation is. The last is `done`. */
export type Installation =
  | { readonly type: "progress"; readonly progress: InstallProgress }
  | { readonly type: "done"; readonly installed: InstalledAgent };

/** The agents that a daemon knows. */
export class Agents {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that there are, installed or not. */
  async list({ signal }: CallOptions = {}): Promise<readonly Agent[]> {
    return (await this.#http.json("get", "/v1/agents", { signal })).items;
  }

  /** Installs an agent, unless it is there already. */
  install(agent: string, install: InstallAgent = {}, { signal }: CallOptions = {}): Promise<InstalledAgent> {
    return this.#http.json("post", "/v1/agents/{agent}/install", { names: { agent }, json: install, signal });
  }

  /**
   * Installs an agent, and tells how far that is. It goes on if nobody listens; whoever asks again follows the
   * same one. It fails with `ProblemError` if the installation does.
   */
  installing(
    agent: string,
    install: InstallAgent = {},
    { signal }: CallOptions = {},
  ): AsyncGenerator<Installation, undefined, undefined> {
    const ask = askOf("post", "/v1/agents/{agent}/install", { names: { agent }, json: install });
    const read = (event: ServerEvent): Said<Installation> => {
      switch (event.event) {
        case "progress":
          return { item: { type: "progress", progress: parsed(event) } };
        case "done":
          return { item: { type: "done", installed: parsed(event) }, last: true };
        case "failed":
          throw new ProblemError(parsed(event));
        default:
          return undefined;
      }
    };
    return follow<Installation>(this.#http, { ask, signal, read });
  }

  /** The models that an agent can use. */
  async models(agent: string, { signal }: CallOptions = {}): Promise<readonly AgentModel[]> {
    return (await this.#http.json("get", "/v1/agents/{agent}/models", { names: { agent }, signal })).models;
  }

  /** The ways in which an agent can behave. */
  async modes(agent: string, { signal }: CallOptions = {}): Promise<readonly AgentMode[]> {
    return (await this.#http.json("get", "/v1/agents/{agent}/modes", { names: { agent }, signal })).modes;
  }
}
