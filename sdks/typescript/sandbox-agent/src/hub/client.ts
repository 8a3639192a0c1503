import { SandboxAgentClient, type SandboxAgentOptions } from "../client.js";
import type { AuditRecord, CallerIdentity, LoginResponse } from "../generated/aliases.js";
import { fillPath } from "../http/route.js";
import { RouteClient } from "../http/route-client.js";
import type { CallOptions, ServerOptions } from "../options.js";
import { Relay } from "./relay.js";
import { Runtimes } from "./runtimes.js";
import { Tokens } from "./tokens.js";
import { Users } from "./users.js";
import { HubWaits } from "./waits.js";

/** A client of a hub, which gives access to many runtimes. */
export class HubClient {
  readonly runtimes: Runtimes;
  readonly waits: HubWaits;
  readonly relay: Relay;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly #options: ServerOptions;
  readonly #http: RouteClient;

  constructor(options: ServerOptions) {
    const http = new RouteClient(options);
    this.runtimes = new Runtimes(http);
    this.waits = new HubWaits(http);
    this.relay = new Relay(http);
    this.users = new Users(http);
    this.tokens = new Tokens(http);
    this.#options = options;
    this.#http = http;
  }

  /**
   * Returns a client of a runtime. Its requests go through the hub, which authenticates the user. It connects to an agent
   * only if the options name one.
   */
  sandbox(
    runtimeId: string,
    options: Omit<SandboxAgentOptions, keyof ServerOptions> = {},
  ): SandboxAgentClient {
    const path = fillPath("/api/runtimes/{runtime_id}", { runtime_id: runtimeId });
    return new SandboxAgentClient({
      ...this.#options,
      ...options,
      baseUrl: this.#http.endpoint.resolve(path),
    });
  }

  /** Returns the authenticated user and their roles. */
  whoAmI({ signal }: CallOptions = {}): Promise<CallerIdentity> {
    return this.#http.json("get", "/api/whoami", { signal });
  }

  /**
   * Exchanges a token for a login cookie, for browsers. On plain loopback the response has a `pageKey`: pass it to later
   * clients as the header `Tombolo-Page-Key`.
   */
  login(token: string, { signal }: CallOptions = {}): Promise<LoginResponse> {
    return this.#http.json("post", "/api/login", { json: { token }, signal });
  }

  /** Removes the login cookie. */
  logout({ signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/logout", { signal });
  }

  /** Reads a page of the audit log, after an entry. */
  async audit({
    after,
    limit,
    signal,
  }: CallOptions & { readonly after?: number; readonly limit?: number } = {}): Promise<
    readonly AuditRecord[]
  > {
    return (
      await this.#http.json("get", "/api/audit", { query: { cursor: after?.toString(), limit }, signal })
    ).items;
  }
}
