import type { components } from "../generated/api.js";

/**
 * Everything that the daemon and the hub say and hear, by its name in their OpenAPI documents.
 *
 * What is of the protocol that agents speak is left out: the client speaks it. A newer server may say more than is known here: code that tells the members of a union apart must expect one
 * that it does not know.
 */
export type Schemas = Omit<components["schemas"], "Instance" | "InstanceList" | "Prepare">;
