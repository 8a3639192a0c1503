import type { Schemas } from "./schema.js";

/** A frame of an observation stream. */
export type ObservationFrame = Schemas["ObservationFrame"];
/** An event and its cursor in an observation stream. */
export type ObservationEnvelope = Schemas["EventEnvelope"];
/** A problem with an observation stream. */
export type ObservationDiagnostic = Schemas["StreamDiagnostic"];
/** A frame about the observation stream itself. */
export type ObservationControl = Schemas["StreamControl"];
/** How an observation stream continues after a cursor. */
export type ObservationResume = Schemas["ResumeOutcome"];
