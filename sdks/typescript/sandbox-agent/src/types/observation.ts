import type { Schemas } from "./schema.js";

/** What is said on the stream of a worker. */
export type ObservationFrame = Schemas["Frame"];
/** An event and its place in the stream of a worker. */
export type ObservationEnvelope = Schemas["Envelope"];
/** Something is wrong with a stream. */
export type ObservationDiagnostic = Schemas["Diagnostic"];
/** Something about a stream itself. */
export type ObservationControl = Schemas["Control"];
/** How a stream goes on after a cursor. */
export type ObservationResume = Schemas["Resume"];
