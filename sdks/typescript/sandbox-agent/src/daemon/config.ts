import type { McpServer, Skill } from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import type { Schemas } from "../types/schema.js";

/** The MCP servers for agents that work in a directory. */
export class McpServers {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the entries of a directory by name. */
  async list(directory: string, { signal }: CallOptions = {}): Promise<Readonly<Record<string, McpServer>>> {
    const all = await this.#http.json("get", "/v1/config/mcp", { query: { directory }, signal });
    return (all as Schemas["McpServerList"]).items;
  }

  async get(directory: string, name: string, { signal }: CallOptions = {}): Promise<McpServer> {
    const query = { directory, mcpName: name };
    return (await this.#http.json("get", "/v1/config/mcp", { query, signal })) as McpServer;
  }

  /** Adds or replaces an entry. */
  set(directory: string, name: string, server: McpServer, { signal }: CallOptions = {}): Promise<void> {
    const query = { directory, mcpName: name };
    return this.#http.done("put", "/v1/config/mcp", { query, json: server, signal });
  }

  /** Removes an entry. */
  delete(directory: string, name: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/config/mcp", { query: { directory, mcpName: name }, signal });
  }
}

/** The skills for agents that work in a directory. */
export class Skills {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the entries of a directory by name. */
  async list(directory: string, { signal }: CallOptions = {}): Promise<Readonly<Record<string, Skill>>> {
    const all = await this.#http.json("get", "/v1/config/skills", { query: { directory }, signal });
    return (all as Schemas["SkillList"]).items;
  }

  async get(directory: string, name: string, { signal }: CallOptions = {}): Promise<Skill> {
    const query = { directory, skillName: name };
    return (await this.#http.json("get", "/v1/config/skills", { query, signal })) as Skill;
  }

  /** Adds or replaces an entry. */
  set(directory: string, name: string, skill: Skill, { signal }: CallOptions = {}): Promise<void> {
    const query = { directory, skillName: name };
    return this.#http.done("put", "/v1/config/skills", { query, json: skill, signal });
  }

  /** Removes an entry. */
  delete(directory: string, name: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/config/skills", { query: { directory, skillName: name }, signal });
  }
}

/** MCP servers and skills of agents, by directory. */
export class Config {
  readonly mcp: McpServers;
  readonly skills: Skills;

  /** @internal */
  constructor(http: RouteClient) {
    this.mcp = new McpServers(http);
    this.skills = new Skills(http);
  }
}
