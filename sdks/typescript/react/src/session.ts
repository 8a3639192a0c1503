import {
  type AnswerOptions,
  type MessageAccepted,
  reduceSession,
  type SendMessageRequest,
  type SendOptions,
  type SessionClient,
  type SessionSnapshot,
  type Wait,
  type WaitAnswer,
} from "@tombolo/session";
import { useMemo } from "react";
import type { LiveState } from "./live-state.js";
import type { Follow } from "./store.js";
import { StoreRegistry, useLiveState } from "./store-registry.js";

/** A session, and functions to take part in it. */
export type LiveSession = LiveState<SessionSnapshot> & {
  /** Sends a message. Resolves once the server has stored it; the state shows the response. */
  readonly send: (message: string | SendMessageRequest, options?: SendOptions) => Promise<MessageAccepted>;
  /** Interrupts the running turn, if any. */
  readonly cancel: () => Promise<void>;
  /** Answers one of the `waits`. The first answer wins. */
  readonly answer: (waitId: string, answer: WaitAnswer, options?: AnswerOptions) => Promise<Wait>;
  /** Follows again after `broken` or `ended`. */
  readonly retry: () => void;
};

const stores = new StoreRegistry<SessionSnapshot>();

/** Follows a session. Components that follow the same session with the same client share one connection. */
export function useSession(client: SessionClient, id: string): LiveSession {
  const session = useLiveState(stores, client, id, followSession(client, id));
  return useMemo(
    () => ({
      ...session,
      send: (message, options) => client.sessions.send(id, message, options),
      cancel: async () => {
        await client.sessions.cancel(id);
      },
      answer: (waitId, answer, options) => client.waits.answer(waitId, answer, options),
    }),
    [session, client, id],
  );
}

function followSession({ sessions }: SessionClient, id: string): Follow<SessionSnapshot> {
  return async (known, publisher, signal) => {
    let state = known;
    for (;;) {
      state ??= await sessions.snapshot(id, { signal });
      publisher.live(state);
      try {
        for await (const record of sessions.events(id, { after: state.seq, signal })) {
          state = reduceSession(state, record);
          publisher.live(state);
        }
        return;
      } catch (error) {
        if (!isGap(error)) throw error;
        publisher.gap();
        state = undefined;
      }
    }
  };
}

/** Compares by name, as each package has its own `GapError` class and they do not depend on each other. */
function isGap(error: unknown): boolean {
  return error instanceof Error && error.name === "GapError";
}
