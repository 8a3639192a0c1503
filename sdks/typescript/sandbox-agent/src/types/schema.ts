import type { components } from "../generated/api.js";

/**
 * Everything that the daemon and the hub say and hear, by its name in their OpenAPI documents.
 *
 * A newer server may say more than is known here: code that tells the members of a union apart must expect one
 * that it does not know.
 */
export type Schemas = components["schemas"];
