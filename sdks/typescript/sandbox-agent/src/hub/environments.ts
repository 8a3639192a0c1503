import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { AddEnvironment, AddedEnvironment, Environment } from "../types/hub.js";
import type { RelayMethod, RelayParams, RelayResult } from "../types/relay.js";
import type { Schemas } from "../types/schema.js";

/** What lets somebody use an environment: what `add` gave. */
export interface EnvironmentKey {
  readonly environmentId: string;
  readonly secret: string;
}

/** How a device is asked. */
export interface AskOptions extends CallOptions {
  /** For which run and tool call; kept in the record. */
  readonly context?: Schemas["Context"] | undefined;
  /** How long it may take, with the time that people take to approve it. */
  readonly timeoutMs?: number | undefined;
}

/** What sessions use of devices. */
export class Environments {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that one may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Environment[]> {
    return (await this.#http.json("get", "/api/v1/relay/environments", { signal })).items;
  }

  /** One of them. */
  read(environmentId: string, { signal }: CallOptions = {}): Promise<Environment> {
    const names = { environment_id: environmentId };
    return this.#http.json("get", "/api/v1/relay/environments/{environment_id}", { names, signal });
  }

  /** Has a session use a device. The secret is shown once. */
  add(environment: AddEnvironment, { signal }: CallOptions = {}): Promise<AddedEnvironment> {
    return this.#http.json("post", "/api/v1/relay/environments", { json: environment, signal });
  }

  /** Ends the use of a device. */
  remove(environmentId: string, { signal }: CallOptions = {}): Promise<void> {
    const names = { environment_id: environmentId };
    return this.#http.done("delete", "/api/v1/relay/environments/{environment_id}", { names, signal });
  }

  /**
   * Asks one thing of the device. Who must approve it is asked meanwhile. Fails with a `ProblemError` whose member
   * `relay` says why; who gives up cancels it.
   */
  async ask<Method extends RelayMethod>(
    { environmentId, secret }: EnvironmentKey,
    method: Method,
    params: RelayParams<Method>,
    { context, timeoutMs, signal }: AskOptions = {},
  ): Promise<RelayResult<Method>> {
    const answer = await this.#http.json("post", "/api/v1/relay/environments/{environment_id}/requests", {
      names: { environment_id: environmentId },
      headers: { authorization: `Bearer ${secret}` },
      json: { method, params, context: context ?? null, timeout_ms: timeoutMs ?? null },
      signal,
    });
    return (answer as { readonly result: RelayResult<Method> }).result;
  }
}
