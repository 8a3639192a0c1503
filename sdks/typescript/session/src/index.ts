export type * from "./client.js";
export { GapError } from "./gap-error.js";
export { INITIAL_OBSERVATION, type Observation, reduceObservation } from "./observation.js";
export { reduceSession, type TimedEvent } from "./session.js";
export { SNAPSHOT_MESSAGES_MAX, toSnapshot } from "./snapshot.js";
export type * from "./types.js";
export { reduceWaits } from "./wait-list.js";
