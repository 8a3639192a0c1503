import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { McpServer, Skill } from "../types/daemon.js";
import type { Schemas } from "../types/schema.js";

/** The MCP servers that the agents of a directory are given. */
export class McpServers {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All of a directory, by name. */
  async list(directory: string, { signal }: CallOptions = {}): Promise<Readonly<Record<string, McpServer>>> {
    const all = await this.#http.json("get", "/v1/config/mcp", { query: { directory }, signal });
    return (all as Schemas["McpServerList"]).items;
  }

  /** One of a directory. */
  async read(directory: string, name: string, { signal }: CallOptions = {}): Promise<McpServer> {
    const query = { directory, mcpName: name };
    return (await this.#http.json("get", "/v1/config/mcp", { query, signal })) as McpServer;
  }

  /** Stores one. */
  set(directory: string, name: string, server: McpServer, { signal }: CallOptions = {}): Promise<void> {
    const query = { directory, mcpName: name };
    return this.#http.done("put", "/v1/config/mcp", { query, json: server, signal });
  }

  /** Forgets one. */
  delete(directory: string, name: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/config/mcp", { query: { directory, mcpName: name }, signal });
  }
}

/** The skills that the agents of a directory are given. */
export class Skills {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All of a directory, by name. */
  async list(directory: string, { signal }: CallOptions = {}): Promise<Readonly<Record<string, Skill>>> {
    const all = await this.#http.json("get", "/v1/config/skills", { query: { directory }, signal });
    return (all as Schemas["SkillList"]).items;
  }

  /** One of a directory. */
  async read(directory: string, name: string, { signal }: CallOptions = {}): Promise<Skill> {
    const query = { directory, skillName: name };
    return (await this.#http.json("get", "/v1/config/skills", { query, signal })) as Skill;
  }

  /** Stores one. */
  set(directory: string, name: string, skill: Skill, { signal }: CallOptions = {}): Promise<void> {
    const query = { directory, skillName: name };
    return this.#http.done("put", "/v1/config/skills", { query, json: skill, signal });
  }

  /** Forgets one. */
  delete(directory: string, name: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/config/skills", { query: { directory, skillName: name }, signal });
  }
}

/** What agents are given in a directory. */
export class Config {
  readonly mcp: McpServers;
  readonly skills: Skills;

  /** @internal */
  constructor(http: Http) {
    this.mcp = new McpServers(http);
    this.skills = new Skills(http);
  }
}
