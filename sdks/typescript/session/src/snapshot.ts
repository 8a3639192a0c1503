import type { SessionSnapshot } from "./types/snapshot.js";

/** How many messages a snapshot has at most; earlier ones are read from the transcript. */
export const SNAPSHOT_MESSAGES_MAX = 50;

/** What the server would say: the state with no more messages than a snapshot has. */
export function snapshotOf(state: SessionSnapshot): SessionSnapshot {
  return state.messages.length > SNAPSHOT_MESSAGES_MAX ? cut(state) : state;
}

/** Gives up the earliest messages once there are twice as many as are kept, so that memory is bounded. */
export function shed(state: SessionSnapshot): SessionSnapshot {
  return state.messages.length > 2 * SNAPSHOT_MESSAGES_MAX ? cut(state) : state;
}

function cut(state: SessionSnapshot): SessionSnapshot {
  return { ...state, messages: state.messages.slice(-SNAPSHOT_MESSAGES_MAX), hasEarlier: true };
}
