import { reduceSession } from "./session.js";
import type {
  ObservationControl,
  ObservationDiagnostic,
  ObservationEnvelope,
  ObservationFrame,
  Presence,
} from "./types/observation.js";
import type { SessionSnapshot } from "./types/snapshot.js";

/** What whoever observes a session knows. */
export interface Observation {
  /** What it has come to; nothing is known before the first snapshot. */
  readonly session: SessionSnapshot | undefined;
  /** Whether everything that was missed has been told. */
  readonly live: boolean;
  /** Who else is there; only a backend tells. */
  readonly presence: Presence | undefined;
  /** What is wrong with the stream, until it goes on. */
  readonly diagnostic: ObservationDiagnostic | undefined;
}

/** What is known before anything was said. */
export const UNOBSERVED: Observation = {
  session: undefined,
  live: false,
  presence: undefined,
  diagnostic: undefined,
};

/** What is known of a session after one more frame of its stream, across any number of connections. */
export function reduceObservation(state: Observation, frame: ObservationFrame): Observation {
  switch (frame.kind) {
    case "event":
      return takeEvent(state, frame.envelope);
    case "control":
      return takeControl(state, frame.control);
    case "diagnostic":
      return { ...state, diagnostic: frame.diagnostic };
    default:
      frame satisfies never;
      return state; // A newer peer says more than we know.
  }
}

function takeEvent(state: Observation, { payload, time, replay }: ObservationEnvelope): Observation {
  // Each connection begins with a snapshot, and with what was missed of what it covers.
  if (replay) return state;
  if ("snapshot" in payload) return { ...state, session: payload.snapshot, diagnostic: undefined };
  if (state.session === undefined) return state;
  const told = { event: payload, time: time ?? state.session.session.updatedAt };
  return { ...state, session: reduceSession(state.session, told), diagnostic: undefined };
}

function takeControl(state: Observation, control: ObservationControl): Observation {
  switch (control.type) {
    case "live":
      return { ...state, live: true, diagnostic: undefined };
    case "resumed":
      // A runtime that was away is back; what was missed follows, or is in a new snapshot.
      return { ...state, diagnostic: undefined };
    case "presence": {
      const { watchers, drivers } = control;
      return { ...state, presence: { watchers, drivers } };
    }
    case "heartbeat":
    case "relay":
    case "unknown":
      return state;
    default:
      control satisfies never;
      return state;
  }
}
