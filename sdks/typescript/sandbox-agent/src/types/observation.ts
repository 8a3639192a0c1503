import type { Schemas } from "./schema.js";

/** A frame of an observation stream. */
export type ObservationFrame = Schemas["Frame"];
/** An event and its cursor in an observation stream. */
export type ObservationEnvelope = Schemas["Envelope"];
/** A problem with an observation stream. */
export type ObservationDiagnostic = Schemas["Diagnostic"];
/** A frame about the observation stream itself. */
export type ObservationControl = Schemas["Control"];
/** How an observation stream continues after a cursor. */
export type ObservationResume = Schemas["Resume"];
