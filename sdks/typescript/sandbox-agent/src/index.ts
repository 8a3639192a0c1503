export type * from "./types/daemon.js";
export type * from "./types/hub.js";
export type * from "./types/observation.js";
export type * from "./types/relay.js";
export type { Schemas } from "./types/schema.js";
export type * from "./types/session.js";
