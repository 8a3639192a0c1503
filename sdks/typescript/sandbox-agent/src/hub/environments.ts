import { ConnectionError, onAbort } from "@tombolo/acp-http-client/transport";
import { RelayRequestError } from "../errors.js";
import { connection, parsed } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { AddEnvironment, AddedEnvironment, Environment } from "../types/hub.js";
import type { RelayError, RelayMethod, RelayParams, RelayResult, RelayStreamFrame } from "../types/relay.js";
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

/** What comes of a request: parts on the way, and at last its result. */
export type RelayPart<Method extends RelayMethod> =
  | { readonly type: "stream"; readonly frame: Omit<RelayStreamFrame, "id"> }
  | { readonly type: "response"; readonly result: RelayResult<Method> };

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
    key: EnvironmentKey,
    method: Method,
    params: RelayParams<Method>,
    options: AskOptions = {},
  ): Promise<RelayResult<Method>> {
    const request = { ...requestOf(key, method, params, options), signal: options.signal };
    const answer = await this.#http.json("post", REQUESTS, request);
    return (answer as { readonly result: RelayResult<Method> }).result;
  }

  /**
   * Asks one thing of the device, and tells what comes on the way, such as what a command writes. Who stops reading
   * cancels it, and so does a lost connection: it is not asked twice. Fails with `RelayRequestError`.
   */
  async *stream<Method extends RelayMethod>(
    key: EnvironmentKey,
    method: Method,
    params: RelayParams<Method>,
    options: AskOptions = {},
  ): AsyncGenerator<RelayPart<Method>, undefined, undefined> {
    const stop = new AbortController();
    const release = onAbort([options.signal, this.#http.lifetime], (reason) => stop.abort(reason));
    const ask = askOf("post", REQUESTS, requestOf(key, method, params, options));
    try {
      for await (const event of connection(this.#http, ask, undefined, () => {}, stop.signal)) {
        if (event.event === "stream") yield { type: "stream", frame: parsed(event) };
        if (event.event !== "response") continue;
        const outcome = parsed<{ result: RelayResult<Method> } | { error: RelayError }>(event);
        if ("error" in outcome) throw new RelayRequestError(outcome.error);
        yield { type: "response", result: outcome.result };
        return undefined;
      }
      throw new ConnectionError("the hub ended the stream before the response");
    } finally {
      release();
      stop.abort();
    }
  }
}

const REQUESTS = "/api/v1/relay/environments/{environment_id}/requests";

function requestOf<Method extends RelayMethod>(
  { environmentId, secret }: EnvironmentKey,
  method: Method,
  params: RelayParams<Method>,
  { context, timeoutMs }: AskOptions,
) {
  return {
    names: { environment_id: environmentId },
    headers: { authorization: `Bearer ${secret}` },
    json: { method, params, context: context ?? null, timeout_ms: timeoutMs ?? null },
  };
}
