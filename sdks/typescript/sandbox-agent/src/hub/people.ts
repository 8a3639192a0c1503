import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { AddedHubToken, AddHubToken, AddUser, HubToken, SetUser, User } from "../types/hub.js";

/** Who may use a hub, and what they may do. */
export class Users {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All of them. */
  async list({ signal }: CallOptions = {}): Promise<readonly User[]> {
    return (await this.#http.json("get", "/api/users", { signal })).items;
  }

  /** One of them. */
  read(user: string, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("get", "/api/users/{user}", { names: { user }, signal });
  }

  /** Lets somebody use the hub. */
  add(user: AddUser, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("post", "/api/users", { json: user, signal });
  }

  /** Says what somebody may do from now on. What is left out they may no longer do. */
  set(user: string, rights: SetUser, { signal }: CallOptions = {}): Promise<User> {
    return this.#http.json("put", "/api/users/{user}", { names: { user }, json: rights, signal });
  }

  /** Lets somebody use the hub no longer. */
  remove(user: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/users/{user}", { names: { user }, signal });
  }
}

/** What lets people in. */
export class Tokens {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** One's own, or those of somebody. */
  async list({ user, signal }: CallOptions & { readonly user?: string } = {}): Promise<readonly HubToken[]> {
    return (await this.#http.json("get", "/api/tokens", { query: { user }, signal })).items;
  }

  /** Makes one. Its secret is shown once. */
  add(token: AddHubToken, { signal }: CallOptions = {}): Promise<AddedHubToken> {
    return this.#http.json("post", "/api/tokens", { json: token, signal });
  }

  /** Has one let nobody in any more, also where it is in use. */
  revoke(tokenId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/tokens/{token_id}", { names: { token_id: tokenId }, signal });
  }
}
