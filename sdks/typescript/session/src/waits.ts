import type { SessionSnapshot, Wait, WaitRequest } from "./types.js";

/** Adds an open wait, in place of an earlier one with the same id. */
export function openWait(state: SessionSnapshot, request: WaitRequest, time: string): SessionSnapshot {
  const { id, turnId } = "permission" in request ? request.permission : request.question;
  const wait: Wait = {
    id,
    sessionId: state.session.id,
    turnId,
    request,
    openedAt: time,
    expiresAt: null,
    defaultAnswer: "reject",
    settlement: null,
  };
  return { ...state, waits: [...withoutWait(state.waits, id), wait] };
}

/** Removes a wait that was answered, has expired or was withdrawn. */
export function closeWait(state: SessionSnapshot, id: string): SessionSnapshot {
  return { ...state, waits: withoutWait(state.waits, id) };
}

/** The waits except the one with this id. Returns the same array if there is none. */
export function withoutWait(waits: readonly Wait[], id: string): readonly Wait[] {
  return waits.some((wait) => wait.id === id) ? waits.filter((wait) => wait.id !== id) : waits;
}
