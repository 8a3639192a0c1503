import type { components } from "../generated/api.js";

/** The schemas that only the ACP transport uses. */
type TransportSchemas =
  | "AcpInstance"
  | "AcpInstanceList"
  | "AcpInstanceState"
  | "AcpProcessExit"
  | "PrepareInstanceRequest";

/**
 * Every schema of the daemon's and the hub's API, by its name in the OpenAPI documents. Those of the ACP transport are
 * left out, as the client hides it.
 *
 * A newer server may send union members that are not in these types; code must tolerate them.
 */
export type Schemas = Omit<components["schemas"], TransportSchemas>;
