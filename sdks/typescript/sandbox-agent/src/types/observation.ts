import type { Schemas } from "./schema.js";

/** A frame of an observation stream. */
export type ObservationFrame = Schemas["ObservationFrame"];
/** An event and its cursor in an observation stream. */
export type EventEnvelope = Schemas["EventEnvelope"];
/** A problem with an observation stream. */
export type StreamDiagnostic = Schemas["StreamDiagnostic"];
/** A frame about the observation stream itself. */
export type StreamControl = Schemas["StreamControl"];
/** How an observation stream continues after a cursor. */
export type ResumeOutcome = Schemas["ResumeOutcome"];
