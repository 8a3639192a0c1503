import {
  type AnswerOptions,
  reduceSession,
  type SendMessage,
  type SendOptions,
  type SentMessage,
  type SessionClient,
  type SessionSnapshot,
  type Wait,
  type WaitAnswer,
} from "@tombolo/session";
import { useMemo } from "react";
import type { Followed } from "./followed.js";
import { Shared, useFollowed } from "./shared.js";
import type { Follow } from "./store.js";

/** A session as it is now, and how to take part in it. */
export type LiveSession = Followed<SessionSnapshot> & {
  /** Sends a message; it ends when that is written down, and the state tells what becomes of it. */
  readonly send: (message: string | SendMessage, options?: SendOptions) => Promise<SentMessage>;
  /** Interrupts the turn that runs, if one does. */
  readonly cancel: () => Promise<void>;
  /** Answers one of the `waits`. The first answer holds, whoever gives it. */
  readonly answer: (waitId: string, answer: WaitAnswer, options?: AnswerOptions) => Promise<Wait>;
  /** Tries again to follow what is broken. */
  readonly retry: () => void;
};

const sessions = new Shared<SessionSnapshot>();

/** Follows a session. All components that follow the same one with the same client share one connection. */
export function useSession(client: SessionClient, id: string): LiveSession {
  const followed = useFollowed(sessions, client, id, followSession(client, id));
  return useMemo(
    () => ({
      ...followed,
      send: (message, options) => client.sessions.send(id, message, options),
      cancel: async () => {
        await client.sessions.cancel(id);
      },
      answer: (waitId, answer, options) => client.waits.answer(waitId, answer, options),
    }),
    [followed, client, id],
  );
}

function followSession({ sessions }: SessionClient, id: string): Follow<SessionSnapshot> {
  return async (known, told, signal) => {
    let state = known;
    for (;;) {
      state ??= await sessions.snapshot(id, { signal });
      told.live(state);
      try {
        for await (const record of sessions.events(id, { after: state.seq, signal })) {
          state = reduceSession(state, record);
          told.live(state);
        }
        return;
      } catch (error) {
        if (!isGap(error)) throw error;
        told.gap();
        state = undefined;
      }
    }
  };
}

/** Each package has a `GapError` of its own, so that none has to depend on another. */
function isGap(error: unknown): boolean {
  return error instanceof Error && error.name === "GapError";
}
