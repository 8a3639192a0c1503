import type { RelayAuditPage, RelayStatus, WorkspaceRelaySettings } from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import { Devices, Grants } from "./devices.js";
import { Environments } from "./environments.js";

/** The relay: devices that people lend to agents, grants, and environments. */
export class Relay {
  readonly devices: Devices;
  readonly grants: Grants;
  readonly environments: Environments;
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.devices = new Devices(http);
    this.grants = new Grants(http);
    this.environments = new Environments(http);
    this.#http = http;
  }

  /** Returns the state of devices and environments, and the remembered approvals. */
  status({ signal }: CallOptions = {}): Promise<RelayStatus> {
    return this.#http.json("get", "/api/v1/relay/status", { signal });
  }

  /** Revokes a remembered approval, by its `id` in `rememberedApprovals` of the status. */
  forgetApproval(waitId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/v1/relay/approvals/{wait_id}", {
      names: { wait_id: waitId },
      signal,
    });
  }

  /** Reads a page of the relay audit log, after an entry. */
  audit({
    after,
    limit,
    signal,
  }: CallOptions & { readonly after?: number; readonly limit?: number } = {}): Promise<RelayAuditPage> {
    return this.#http.json("get", "/api/v1/relay/audit", {
      query: { cursor: after?.toString(), limit },
      signal,
    });
  }

  /** Enables or disables the relay in a workspace. */
  setEnabled(
    workspace: string,
    enabled: boolean,
    { signal }: CallOptions = {},
  ): Promise<WorkspaceRelaySettings> {
    return this.#http.json("put", "/api/workspaces/{workspace}/relay", {
      names: { workspace },
      json: { enabled },
      signal,
    });
  }
}
