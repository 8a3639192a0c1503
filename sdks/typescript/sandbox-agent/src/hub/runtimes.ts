import type {
  AddRuntimeRequest,
  CreateJoinTokenRequest,
  JoinToken,
  ObservationFrame,
  Runtime,
  Session,
  WorkerDetails,
  WorkerPresence,
} from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import { type ObserveOptions, observe } from "./observe.js";

/** The runtimes of a hub, and their sessions. */
export class Runtimes {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the runtimes that the user may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Runtime[]> {
    return (await this.#http.json("get", "/api/runtimes", { signal })).items;
  }

  get(runtimeId: string, { signal }: CallOptions = {}): Promise<Runtime> {
    return this.#http.json("get", "/api/runtimes/{runtime_id}", { names: { runtime_id: runtimeId }, signal });
  }

  /** Adds a runtime that the hub can reach. */
  add(runtime: AddRuntimeRequest, { signal }: CallOptions = {}): Promise<Runtime> {
    return this.#http.json("post", "/api/runtimes", { json: runtime, signal });
  }

  /** Creates a join token for a daemon that connects to the hub by itself. */
  invite(runtime: CreateJoinTokenRequest, { signal }: CallOptions = {}): Promise<JoinToken> {
    return this.#http.json("post", "/api/runtimes/join-tokens", { json: runtime, signal });
  }

  /** Removes a runtime. */
  remove(runtimeId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/runtimes/{runtime_id}", {
      names: { runtime_id: runtimeId },
      signal,
    });
  }

  /** Lists the sessions of a runtime. */
  async workers(runtimeId: string, { signal }: CallOptions = {}): Promise<readonly Session[]> {
    const names = { runtime_id: runtimeId };
    return (await this.#http.json("get", "/api/runtimes/{runtime_id}/workers", { names, signal })).items;
  }

  /** Returns a session, and what the user may do with it. */
  worker(runtimeId: string, workerId: string, { signal }: CallOptions = {}): Promise<WorkerDetails> {
    const names = { runtime_id: runtimeId, worker_id: workerId };
    return this.#http.json("get", "/api/runtimes/{runtime_id}/workers/{worker_id}", { names, signal });
  }

  /** Returns the people who watch and drive a session. */
  presence(runtimeId: string, workerId: string, { signal }: CallOptions = {}): Promise<WorkerPresence> {
    const names = { runtime_id: runtimeId, worker_id: workerId };
    return this.#http.json("get", "/api/runtimes/{runtime_id}/workers/{worker_id}/presence", {
      names,
      signal,
    });
  }

  /**
   * Watches a session across lost connections. Each connection starts with a snapshot, and each event comes once. Throws
   * `ObservationError` if the session does not exist, or the user may no longer watch it.
   */
  observe(
    runtimeId: string,
    workerId: string,
    options: ObserveOptions = {},
  ): AsyncGenerator<ObservationFrame, undefined, undefined> {
    return observe(this.#http, runtimeId, workerId, options);
  }
}
