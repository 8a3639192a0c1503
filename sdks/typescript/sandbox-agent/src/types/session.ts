import type { Schemas } from "./schema.js";

/** Request to create a session. Through a hub it may also name a device. */
export type CreateSessionRequest = Schemas["CreateSessionRequest"] & {
  readonly environment?: Schemas["EnvironmentSpec"];
};
/** An event of a session. A newer server may send others. */
export type SessionEvent = Schemas["Event"];
