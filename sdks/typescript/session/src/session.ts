import { GapError } from "./gap.js";
import { takeReceipt } from "./inputs.js";
import { shed } from "./snapshot.js";
import { foldMessages } from "./transcript.js";
import type { SessionEvent, TurnEnded } from "./types/event.js";
import type { Session, SessionSnapshot } from "./types/snapshot.js";
import { addUsage } from "./usage.js";
import { open, settle } from "./waits.js";

/** An event as a session's own stream tells it, or, without its place, as a stream of observation does. */
export interface Told {
  /** Its place in the session; where it is not known, it is the next one. */
  readonly seq?: number;
  /** When it was written down. */
  readonly time: string;
  /** What happened. */
  readonly event: SessionEvent;
}

/**
 * What a session has come to after one more event: what a snapshot after that event would be.
 *
 * It begins with any snapshot. Nothing is changed in place, and what an event leaves alone is the same object as
 * before. An event that is covered already changes nothing; one that comes too early throws a {@link GapError}.
 *
 * It knows what events tell. What they do not (the attachments of what waits, until when a wait is open) is as the
 * snapshot had it, or left out.
 */
export function reduceSession(state: SessionSnapshot, told: Told): SessionSnapshot {
  const seq = told.seq ?? state.seq + 1;
  if (seq <= state.seq) return state;
  if (seq > state.seq + 1) throw new GapError(state.seq + 1, seq);
  const { event, time } = told;
  if ("snapshot" in event) return event.snapshot;
  const next = foldEvent(shed(withMessages(state, event)), event, time);
  const { waits, inputs } = next;
  const counts = { waits: waits.length, queued: inputs.length };
  return { ...next, seq, session: { ...next.session, ...counts, newest: seq, updatedAt: time } };
}

function withMessages(state: SessionSnapshot, event: SessionEvent): SessionSnapshot {
  const messages = foldMessages(state.messages, event);
  return messages === state.messages ? state : { ...state, messages };
}

function foldEvent(state: SessionSnapshot, event: SessionEvent, time: string): SessionSnapshot {
  if ("turnStarted" in event) {
    return withSession(state, { turnId: event.turnStarted.turnId, error: null });
  }
  if ("turnEnded" in event) return withSession(state, endTurn(state.session, event.turnEnded));
  if ("error" in event) return withSession(state, { error: event.error });
  if ("status" in event) return withSession(state, { state: event.status.state });
  if ("plan" in event) return { ...state, plan: event.plan };
  if ("commandsUpdated" in event) return { ...state, commands: event.commandsUpdated.commands };
  if ("input" in event) return { ...state, inputs: takeReceipt(state.inputs, event.input, time) };
  if ("questionAsked" in event) return open(state, { question: event.questionAsked }, time);
  if ("permissionAsked" in event) return open(state, { permission: event.permissionAsked }, time);
  if ("questionResolved" in event) return settle(state, event.questionResolved.id);
  if ("permissionResolved" in event) return settle(state, event.permissionResolved.id);
  // The rest is told in messages or changes nothing that is kept, as does what a newer peer says.
  return state;
}

function withSession(state: SessionSnapshot, changed: Partial<Session>): SessionSnapshot {
  return { ...state, session: { ...state.session, ...changed } };
}

function endTurn(session: Session, { reason, usage }: TurnEnded): Partial<Session> {
  return {
    turnId: null,
    usage: usage === null ? session.usage : addUsage(session.usage, usage),
    ...(reason === "failed" ? {} : { error: null }),
  };
}
