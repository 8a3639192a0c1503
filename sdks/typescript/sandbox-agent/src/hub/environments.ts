import { ConnectionError, onAbort } from "@tombolo/acp-http-client/transport";
import { RelayRequestError } from "../errors.js";
import type { CreateEnvironmentRequest, Environment, EnvironmentCreated } from "../generated/aliases.js";
import { parseData, readConnection } from "../http/follow-events.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import type { RelayError, RelayMethod, RelayParams, RelayResult, RelayStreamFrame } from "../types/relay.js";
import type { Schemas } from "../types/schema.js";

/** Credentials of an environment, as `add` returned them. */
export interface EnvironmentCredentials {
  readonly environmentId: string;
  readonly secret: string;
}

/** Options of a request to a device. */
export interface RelayRequestOptions extends CallOptions {
  /** The run and tool call behind the request, for the audit log. */
  readonly context?: Schemas["RelayContext"] | undefined;
  /** Time limit, including the time for approval by a person. */
  readonly timeoutMs?: number | undefined;
}

/** An item of a streamed response: frames, and finally the result. */
export type RelayStreamItem<Method extends RelayMethod> =
  | { readonly type: "stream"; readonly frame: Omit<RelayStreamFrame, "id"> }
  | { readonly type: "response"; readonly result: RelayResult<Method> };

/** The environments: the access of sessions to devices. */
export class Environments {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the environments that the user may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Environment[]> {
    return (await this.#http.json("get", "/api/v1/relay/environments", { signal })).items;
  }

  get(environmentId: string, { signal }: CallOptions = {}): Promise<Environment> {
    const names = { environment_id: environmentId };
    return this.#http.json("get", "/api/v1/relay/environments/{environment_id}", { names, signal });
  }

  /** Creates an environment. Only this response contains its secret. */
  add(environment: CreateEnvironmentRequest, { signal }: CallOptions = {}): Promise<EnvironmentCreated> {
    return this.#http.json("post", "/api/v1/relay/environments", { json: environment, signal });
  }

  /** Removes an environment. */
  remove(environmentId: string, { signal }: CallOptions = {}): Promise<void> {
    const names = { environment_id: environmentId };
    return this.#http.done("delete", "/api/v1/relay/environments/{environment_id}", { names, signal });
  }

  /**
   * Sends a request to the device and waits for its result, and for the approval of a person if it needs one. Throws a
   * `ProblemError` whose member `relay` has the error. Aborting the signal cancels the request.
   */
  async request<Method extends RelayMethod>(
    credentials: EnvironmentCredentials,
    method: Method,
    params: RelayParams<Method>,
    options: RelayRequestOptions = {},
  ): Promise<RelayResult<Method>> {
    const request = { ...relayRequest(credentials, method, params, options), signal: options.signal };
    const answer = await this.#http.json("post", REQUESTS, request);
    return (answer as { readonly result: RelayResult<Method> }).result;
  }

  /**
   * Sends a request to the device and reads its stream, such as the output of a command. To stop reading cancels the
   * request. So does a lost connection: the request is not repeated. Throws `RelayRequestError`.
   */
  async *stream<Method extends RelayMethod>(
    credentials: EnvironmentCredentials,
    method: Method,
    params: RelayParams<Method>,
    options: RelayRequestOptions = {},
  ): AsyncGenerator<RelayStreamItem<Method>, undefined, undefined> {
    const stop = new AbortController();
    const release = onAbort([options.signal, this.#http.lifetime], (reason) => stop.abort(reason));
    const request = routeRequest("post", REQUESTS, relayRequest(credentials, method, params, options));
    try {
      for await (const event of readConnection(this.#http, request, undefined, () => {}, stop.signal)) {
        if (event.event === "stream") yield { type: "stream", frame: parseData(event) };
        if (event.event !== "response") continue;
        const outcome = parseData<{ result: RelayResult<Method> } | { error: RelayError }>(event);
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

function relayRequest<Method extends RelayMethod>(
  { environmentId, secret }: EnvironmentCredentials,
  method: Method,
  params: RelayParams<Method>,
  { context, timeoutMs }: RelayRequestOptions,
) {
  return {
    names: { environment_id: environmentId },
    headers: { authorization: `Bearer ${secret}` },
    json: { method, params, context: context ?? null, timeout_ms: timeoutMs ?? null },
  };
}
