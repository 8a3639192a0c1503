import type {
  AddDeviceRequest,
  ConfirmPairingRequest,
  CreateGrantRequest,
  Device,
  DeviceAdded,
  Grant,
  PairingConfirmed,
  PendingPairing,
} from "../generated/aliases.js";
import type { RouteClient } from "../http/route-client.js";
import type { CallOptions } from "../options.js";

/** The devices of a hub. */
export class Devices {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the devices that the user may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Device[]> {
    return (await this.#http.json("get", "/api/devices", { signal })).items;
  }

  get(clientId: string, { signal }: CallOptions = {}): Promise<Device> {
    return this.#http.json("get", "/api/devices/{client_id}", { names: { client_id: clientId }, signal });
  }

  /** Adds a device. Only this response contains its secret. */
  add(device: AddDeviceRequest, { signal }: CallOptions = {}): Promise<DeviceAdded> {
    return this.#http.json("post", "/api/devices", { json: device, signal });
  }

  /** Removes a device: disconnects it and deletes its grants and environments. */
  remove(clientId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/devices/{client_id}", { names: { client_id: clientId }, signal });
  }

  /** Cancels everything that runs on a device. */
  stop(clientId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/devices/{client_id}/stop", {
      names: { client_id: clientId },
      signal,
    });
  }

  /** Lists the devices that wait for their pairing to be confirmed. */
  async pairings({ signal }: CallOptions = {}): Promise<readonly PendingPairing[]> {
    return (await this.#http.json("get", "/api/devices/pairings", { signal })).items;
  }

  /** Returns the pairing request of the device that shows this code. */
  pairing(code: string, { signal }: CallOptions = {}): Promise<PendingPairing> {
    return this.#http.json("get", "/api/devices/pairings/{code}", { names: { code }, signal });
  }

  /** Confirms the pairing of the device that shows this code, and creates grants. */
  confirm(
    code: string,
    confirm: ConfirmPairingRequest,
    { signal }: CallOptions = {},
  ): Promise<PairingConfirmed> {
    const request = { names: { code }, json: confirm, signal };
    return this.#http.json("post", "/api/devices/pairings/{code}/confirm", request);
  }

  /** Rejects the pairing of the device that shows this code. */
  refuse(code: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/devices/pairings/{code}/refuse", { names: { code }, signal });
  }
}

/** The grants: what a device may offer and a runtime may use. */
export class Grants {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the grants that the user may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Grant[]> {
    return (await this.#http.json("get", "/api/grants", { signal })).items;
  }

  /** Adds a grant. */
  add(grant: CreateGrantRequest, { signal }: CallOptions = {}): Promise<Grant> {
    return this.#http.json("post", "/api/grants", { json: grant, signal });
  }

  /** Revokes a grant. It takes effect within a second. */
  remove(grantId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/grants/{grant_id}", { names: { grant_id: grantId }, signal });
  }
}
