import { GapError } from "./gap-error.js";
import { applyReceipt } from "./inputs.js";
import { titleOfMessage } from "./session-title.js";
import { dropEarlyMessages } from "./snapshot.js";
import { applyToMessages } from "./transcript.js";
import type { Session, SessionEvent, SessionSnapshot, TurnEnded } from "./types.js";
import { addUsage } from "./usage.js";
import { closeWait, openWait } from "./waits.js";

/** A session event with its time. Records of a session's own stream also have a `seq`; observation streams have none. */
export interface TimedEvent {
  /** Sequence number of the event in the session. An event without one is taken for the next. */
  readonly seq?: number;
  /** When the server stored the event. */
  readonly time: string;
  readonly event: SessionEvent;
}

/**
 * Applies one event to the state of a session. The result equals the snapshot that the server would return after that
 * event.
 *
 * Start from any snapshot. The function changes nothing in place, and objects that an event does not affect keep their
 * identity. It ignores an event that the state already contains, and throws a {@link GapError} if events are missing.
 *
 * Facts that events do not carry (attachments of inputs, expiry of waits) stay as the snapshot had them, or are empty.
 */
export function reduceSession(state: SessionSnapshot, timed: TimedEvent): SessionSnapshot {
  const seq = timed.seq ?? state.seq + 1;
  if (seq <= state.seq) return state;
  if (seq > state.seq + 1) throw new GapError(state.seq + 1, seq);
  const { event, time } = timed;
  if ("snapshot" in event) return event.snapshot;
  const next = applyEvent(dropEarlyMessages(withMessages(state, event, time)), event, time);
  const { waits, inputs } = next;
  const counts = { openWaits: waits.length, queuedInputs: inputs.length };
  return { ...next, seq, session: { ...next.session, ...counts, newestSeq: seq, updatedAt: time } };
}

function withMessages(state: SessionSnapshot, event: SessionEvent, time: string): SessionSnapshot {
  const messages = applyToMessages(state.messages, event, time);
  return messages === state.messages ? state : { ...state, messages };
}

function applyEvent(state: SessionSnapshot, event: SessionEvent, time: string): SessionSnapshot {
  if ("turnStarted" in event) {
    return withSession(state, { turnId: event.turnStarted.turnId, error: null });
  }
  if ("turnEnded" in event) return withSession(state, afterTurn(state.session, event.turnEnded));
  if ("error" in event) return withSession(state, { error: event.error });
  if ("status" in event) return withSession(state, { state: event.status.state });
  if ("plan" in event) return { ...state, plan: event.plan };
  if ("commandsUpdated" in event) return { ...state, commands: event.commandsUpdated.commands };
  if ("input" in event) {
    const { input } = event;
    const inputs = applyReceipt(state.inputs, input, time);
    const isFirst = input.state === "accepted" && state.session.title == null;
    const title = isFirst ? titleOfMessage(input.message ?? "") : undefined;
    const titled = title === undefined ? state : withSession(state, { title });
    return { ...titled, inputs };
  }
  if ("questionAsked" in event) return openWait(state, { question: event.questionAsked }, time);
  if ("permissionAsked" in event) return openWait(state, { permission: event.permissionAsked }, time);
  if ("questionResolved" in event) return closeWait(state, event.questionResolved.id);
  if ("permissionResolved" in event) return closeWait(state, event.permissionResolved.id);
  // The other events only affect messages, or nothing. A newer server may also send events that are unknown here.
  return state;
}

function withSession(state: SessionSnapshot, changed: Partial<Session>): SessionSnapshot {
  return { ...state, session: { ...state.session, ...changed } };
}

function afterTurn(session: Session, { reason, usage }: TurnEnded): Partial<Session> {
  return {
    turnId: null,
    usage: usage == null ? session.usage : addUsage(session.usage, usage),
    ...(reason === "failed" ? {} : { error: null }),
  };
}
