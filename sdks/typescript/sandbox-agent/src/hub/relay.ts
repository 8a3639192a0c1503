import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type { RelayAuditPage, RelayStatus, WorkspaceRelay } from "../types/hub.js";
import { Devices, Grants } from "./devices.js";
import { Environments } from "./environments.js";

/** The machines that people lend to agents. */
export class Relay {
  readonly devices: Devices;
  readonly grants: Grants;
  readonly environments: Environments;
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.devices = new Devices(http);
    this.grants = new Grants(http);
    this.environments = new Environments(http);
    this.#http = http;
  }

  /** How it is with all of it, and what was approved for more than once. */
  status({ signal }: CallOptions = {}): Promise<RelayStatus> {
    return this.#http.json("get", "/api/v1/relay/status", { signal });
  }

  /** Takes back what was approved for more than once: the `id` of one of `remembered`. */
  forget(waitId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/v1/relay/approvals/{wait_id}", {
      names: { wait_id: waitId },
      signal,
    });
  }

  /** What was asked of devices, after an entry, as a page. */
  audit({
    after,
    limit,
    signal,
  }: CallOptions & { readonly after?: number; readonly limit?: number } = {}): Promise<RelayAuditPage> {
    return this.#http.json("get", "/api/v1/relay/audit", { query: { offset: after, limit }, signal });
  }

  /** Whether devices are lent in a workspace at all. */
  set(workspace: string, enabled: boolean, { signal }: CallOptions = {}): Promise<WorkspaceRelay> {
    return this.#http.json("put", "/api/workspaces/{workspace}/relay", {
      names: { workspace },
      json: { enabled },
      signal,
    });
  }
}
