import type { Http } from "../http/http.js";
import type { CallOptions } from "../options.js";
import type {
  AddDevice,
  AddedDevice,
  AddGrant,
  ConfirmedPairing,
  ConfirmPairing,
  Device,
  Grant,
  PairingRequest,
} from "../types/hub.js";

/** The machines that are lent to agents. */
export class Devices {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that one may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Device[]> {
    return (await this.#http.json("get", "/api/devices", { signal })).items;
  }

  /** One of them. */
  read(clientId: string, { signal }: CallOptions = {}): Promise<Device> {
    return this.#http.json("get", "/api/devices/{client_id}", { names: { client_id: clientId }, signal });
  }

  /** Lets a device in. Its secret is shown once. */
  add(device: AddDevice, { signal }: CallOptions = {}): Promise<AddedDevice> {
    return this.#http.json("post", "/api/devices", { json: device, signal });
  }

  /** Lets a device in no longer. */
  remove(clientId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/devices/{client_id}", { names: { client_id: clientId }, signal });
  }

  /** Ends at once whatever is done on a device. */
  stop(clientId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/devices/{client_id}/stop", {
      names: { client_id: clientId },
      signal,
    });
  }

  /** The devices that want to be let in. */
  async pairings({ signal }: CallOptions = {}): Promise<readonly PairingRequest[]> {
    return (await this.#http.json("get", "/api/devices/pairings", { signal })).items;
  }

  /** The device that shows this code. */
  pairing(code: string, { signal }: CallOptions = {}): Promise<PairingRequest> {
    return this.#http.json("get", "/api/devices/pairings/{code}", { names: { code }, signal });
  }

  /** Lets in the device that shows this code, and grants of what it lends. */
  confirm(code: string, confirm: ConfirmPairing, { signal }: CallOptions = {}): Promise<ConfirmedPairing> {
    const request = { names: { code }, json: confirm, signal };
    return this.#http.json("post", "/api/devices/pairings/{code}/confirm", request);
  }

  /** Does not let in the device that shows this code. */
  refuse(code: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/api/devices/pairings/{code}/refuse", { names: { code }, signal });
  }
}

/** What devices may offer and runtimes may use. */
export class Grants {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All that one may see. */
  async list({ signal }: CallOptions = {}): Promise<readonly Grant[]> {
    return (await this.#http.json("get", "/api/grants", { signal })).items;
  }

  /** Grants something from now on. */
  add(grant: AddGrant, { signal }: CallOptions = {}): Promise<Grant> {
    return this.#http.json("post", "/api/grants", { json: grant, signal });
  }

  /** Takes back what was granted, within a second. */
  remove(grantId: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/api/grants/{grant_id}", { names: { grant_id: grantId }, signal });
  }
}
