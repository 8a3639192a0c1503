import type { AccessToken, CreateTokenRequest, TokenCreated } from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** The access tokens of a hub. */
export class Tokens {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the caller's tokens, or those of another user. */
  async list({
    user,
    signal,
  }: CallOptions & { readonly user?: string } = {}): Promise<readonly AccessToken[]> {
    return (await this.#http.json("get", "/api/tokens", { query: { user }, signal })).items;
  }

  /** Creates a token. Only this response contains its secret. */
  add(token: CreateTokenRequest, { signal }: CallOptions = {}): Promise<TokenCreated> {
    return this.#http.json("post", "/api/tokens", { json: token, signal });
  }

  /** Revokes a token. Open connections that use it are closed. */
  revoke(tokenId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/tokens/{token_id}", { names: { token_id: tokenId }, signal });
  }
}
