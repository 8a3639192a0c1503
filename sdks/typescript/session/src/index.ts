export { GapError } from "./gap.js";
export { type Observation, reduceObservation, UNOBSERVED } from "./observation.js";
export { reduceSession, type Told } from "./session.js";
export { SNAPSHOT_MESSAGES_MAX, snapshotOf } from "./snapshot.js";
export type * from "./types/event.js";
export type * from "./types/message.js";
export type * from "./types/observation.js";
export type * from "./types/snapshot.js";
export type * from "./types/wait.js";
