import type { CreateUserRequest, UpdateUserRequest, User } from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** The users of a hub, and their roles. */
export class Users {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists all users. */
  async list({ signal }: CallOptions = {}): Promise<readonly User[]> {
    return (await this.#http.json("get", "/api/users", { signal })).items;
  }

  get(user: string, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("get", "/api/users/{user}", { names: { user }, signal });
  }

  /** Adds a user. */
  add(user: CreateUserRequest, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("post", "/api/users", { json: user, signal });
  }

  /** Replaces the roles of a user. Roles that are not listed are removed. */
  update(user: string, rights: UpdateUserRequest, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("put", "/api/users/{user}", { names: { user }, json: rights, signal });
  }

  /** Removes a user. */
  remove(user: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/users/{user}", { names: { user }, signal });
  }
}
