import type { SessionSnapshot } from "./types.js";

/** The largest number of messages in a snapshot of the server. Earlier messages are in the transcript. */
export const SNAPSHOT_MESSAGES_MAX = 50;

/** Drops early messages, so that the state equals the snapshot that the server would return. */
export function toSnapshot(state: SessionSnapshot): SessionSnapshot {
  return state.messages.length > SNAPSHOT_MESSAGES_MAX ? trim(state) : state;
}

/**
 * Bounds the memory of a state that many events are applied to. It trims only at twice the limit, so that a screen does
 * not lose its first message with every new one.
 */
export function dropEarlyMessages(state: SessionSnapshot): SessionSnapshot {
  return state.messages.length > 2 * SNAPSHOT_MESSAGES_MAX ? trim(state) : state;
}

function trim(state: SessionSnapshot): SessionSnapshot {
  return { ...state, messages: state.messages.slice(-SNAPSHOT_MESSAGES_MAX), hasEarlier: true };
}
