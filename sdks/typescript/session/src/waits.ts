import type { SessionSnapshot } from "./types/snapshot.js";
import type { Ask, Wait } from "./types/wait.js";

/** Something waits for a person. What is asked again takes the place of what was asked before. */
export function open(state: SessionSnapshot, ask: Ask, time: string): SessionSnapshot {
  const { id, turnId } = "permission" in ask ? ask.permission : ask.question;
  const wait: Wait = {
    id,
    sessionId: state.session.id,
    turnId,
    ask,
    openedAt: time,
    expiresAt: null,
    default: "reject",
    settled: null,
  };
  return { ...state, waits: [...without(state.waits, id), wait] };
}

/** It no longer waits. */
export function settle(state: SessionSnapshot, id: string): SessionSnapshot {
  return { ...state, waits: without(state.waits, id) };
}

/** All but the one of this name; the same array if there is none. */
export function without(waits: readonly Wait[], id: string): readonly Wait[] {
  return waits.some((wait) => wait.id === id) ? waits.filter((wait) => wait.id !== id) : waits;
}
