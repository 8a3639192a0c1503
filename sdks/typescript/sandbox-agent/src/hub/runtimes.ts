import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { AddRuntime, InviteRuntime, JoinToken, Presence, Runtime } from "../types/hub.js";
import type { ObservationFrame } from "../types/observation.js";
import type { Session } from "../types/session.js";
import { type ObserveOptions, observe } from "./observe.js";

/** The daemons that a hub knows, and their sessions, as people watch them. */
export class Runtimes {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that one may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Runtime[]> {
    return (await this.#http.json("get", "/api/runtimes", { signal })).items;
  }

  /** One of them. */
  read(runtimeId: string, { signal }: CallOptions = {}): Promise<Runtime> {
    return this.#http.json("get", "/api/runtimes/{runtime_id}", { names: { runtime_id: runtimeId }, signal });
  }

  /** Has the hub know a daemon. */
  add(runtime: AddRuntime, { signal }: CallOptions = {}): Promise<Runtime> {
    return this.#http.json("post", "/api/runtimes", { json: runtime, signal });
  }

  /** Makes what a daemon can join the hub with, which nobody has to reach then. */
  invite(runtime: InviteRuntime, { signal }: CallOptions = {}): Promise<JoinToken> {
    return this.#http.json("post", "/api/runtimes/join-tokens", { json: runtime, signal });
  }

  /** Has the hub forget a daemon. */
  remove(runtimeId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/runtimes/{runtime_id}", {
      names: { runtime_id: runtimeId },
      signal,
    });
  }

  /** The sessions of a runtime. */
  async workers(runtimeId: string, { signal }: CallOptions = {}): Promise<readonly Session[]> {
    const names = { runtime_id: runtimeId };
    return (await this.#http.json("get", "/api/runtimes/{runtime_id}/workers", { names, signal })).items;
  }

  /** Who watches and drives a session. */
  presence(runtimeId: string, workerId: string, { signal }: CallOptions = {}): Promise<Presence> {
    const names = { runtime_id: runtimeId, worker_id: workerId };
    return this.#http.json("get", "/api/runtimes/{runtime_id}/workers/{worker_id}/presence", {
      names,
      signal,
    });
  }

  /**
   * Watches a session. Each connection begins with a snapshot; a lost one is made anew, and each event comes once.
   * Fails with `ObservationError` where there is no such session, or one may no longer watch it.
   */
  observe(
    runtimeId: string,
    workerId: string,
    options: ObserveOptions = {},
  ): AsyncGenerator<ObservationFrame, undefined, undefined> {
    return observe(this.#http, runtimeId, workerId, options);
  }
}
