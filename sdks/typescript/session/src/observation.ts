import { reduceSession } from "./session.js";
import type {
  EventEnvelope,
  ObservationFrame,
  SessionSnapshot,
  StreamControl,
  StreamDiagnostic,
  WorkerPresence,
} from "./types.js";

/** State of a viewer of an observation stream. */
export interface Observation {
  /** The session; `undefined` before the first snapshot. */
  readonly session: SessionSnapshot | undefined;
  /** Whether the stream has delivered everything that the viewer had missed. */
  readonly live: boolean;
  /** The people who watch and drive the session; only a hub sends it. */
  readonly presence: WorkerPresence | undefined;
  /** A problem with the stream, until the stream continues. */
  readonly diagnostic: StreamDiagnostic | undefined;
}

/** The state before the first frame. */
export const INITIAL_OBSERVATION: Observation = {
  session: undefined,
  live: false,
  presence: undefined,
  diagnostic: undefined,
};

/** Applies one frame of an observation stream. Frames of several consecutive connections may follow each other. */
export function reduceObservation(state: Observation, frame: ObservationFrame): Observation {
  switch (frame.kind) {
    case "event":
      return applyEvent(state, frame.envelope);
    case "control":
      return applyControl(state, frame.control);
    case "diagnostic":
      return { ...state, diagnostic: frame.diagnostic };
    default:
      frame satisfies never;
      return state; // A newer server may send other kinds.
  }
}

function applyEvent(state: Observation, { payload, time, replay }: EventEnvelope): Observation {
  // Each connection starts with a snapshot. The replayed events after it are already part of that snapshot.
  if (replay) return state;
  if ("snapshot" in payload) return { ...state, session: payload.snapshot, diagnostic: undefined };
  if (state.session === undefined) return state;
  const event = { event: payload, time: time ?? state.session.session.updatedAt };
  return { ...state, session: reduceSession(state.session, event), diagnostic: undefined };
}

function applyControl(state: Observation, control: StreamControl): Observation {
  switch (control.type) {
    case "live":
      return { ...state, live: true, diagnostic: undefined };
    case "resumed":
      // The runtime is reachable again. Missed events follow, or a new snapshot contains them.
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
      return state; // A newer server may send other types.
  }
}
