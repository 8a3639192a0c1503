import { SandboxAgentClient, type SandboxAgentOptions } from "../client.js";
import { Http } from "../http/http.js";
import { filled } from "../http/route.js";
import type { CallOptions, ServerOptions } from "../options.js";
import type { AuditRecord, WhoAmI } from "../types/hub.js";
import { HubWaits } from "./inbox.js";
import { Tokens, Users } from "./people.js";
import { Relay } from "./relay.js";
import { Runtimes } from "./runtimes.js";

/** Many sandboxes, watched and driven through one place. */
export class HubClient {
  readonly runtimes: Runtimes;
  readonly waits: HubWaits;
  readonly relay: Relay;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly #options: ServerOptions;
  readonly #http: Http;

  constructor(options: ServerOptions) {
    const http = new Http(options);
    this.runtimes = new Runtimes(http);
    this.waits = new HubWaits(http);
    this.relay = new Relay(http);
    this.users = new Users(http);
    this.tokens = new Tokens(http);
    this.#options = options;
    this.#http = http;
  }

  /**
   * A runtime, as if one spoke to it: every command goes through the hub, which says who gave it. It does not connect
   * to an agent unless one is named.
   */
  sandbox(
    runtimeId: string,
    options: Omit<SandboxAgentOptions, keyof ServerOptions> = {},
  ): SandboxAgentClient {
    const path = filled("/api/runtimes/{runtime_id}", { runtime_id: runtimeId });
    return new SandboxAgentClient({ ...this.#options, ...options, baseUrl: this.#http.endpoint.at(path) });
  }

  /** Who one is to the hub, and what one may do. */
  whoAmI({ signal }: CallOptions = {}): Promise<WhoAmI> {
    return this.#http.json("get", "/api/whoami", { signal });
  }

  /** Lets this browser in: it gets a cookie in exchange for a token. */
  login(token: string, { signal }: CallOptions = {}): Promise<WhoAmI> {
    return this.#http.json("post", "/api/login", { json: { token }, signal });
  }

  /** Lets this browser in no longer. */
  logout({ signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/logout", { signal });
  }

  /** What was done through the hub, after an entry, as a page. */
  async audit({
    after,
    limit,
    signal,
  }: CallOptions & { readonly after?: number; readonly limit?: number } = {}): Promise<
    readonly AuditRecord[]
  > {
    return (await this.#http.json("get", "/api/audit", { query: { offset: after, limit }, signal })).items;
  }
}
