import {
  type AnswerOptions,
  reduceWaits,
  type SessionClient,
  type Wait,
  type WaitAnswer,
} from "@tombolo/session";
import { useMemo } from "react";
import type { Followed } from "./followed.js";
import { Shared, useFollowed } from "./shared.js";
import type { Follow } from "./store.js";

/** What waits for a person, and how to answer. */
export type Approvals = Followed<readonly Wait[]> & {
  /** Answers, whatever was asked. The first answer holds, whoever gives it: the wait says whose it was. */
  readonly answer: (waitId: string, answer: WaitAnswer, options?: AnswerOptions) => Promise<Wait>;
  /** Tries again to follow what is broken. */
  readonly retry: () => void;
};

/** Which waits are of interest. */
export interface ApprovalsOptions {
  /** Only those of this session. */
  readonly sessionId?: string;
}

const inboxes = new Shared<readonly Wait[]>();

/** Follows what waits for a person, the oldest first, in all sessions or in one. */
export function useApprovals(client: SessionClient, { sessionId }: ApprovalsOptions = {}): Approvals {
  const followed = useFollowed(inboxes, client, "waits", followWaits(client));
  return useMemo(() => {
    const answer: Approvals["answer"] = (id, said, options) => client.waits.answer(id, said, options);
    if (sessionId === undefined || followed.state === undefined) return { ...followed, answer };
    return { ...followed, state: followed.state.filter((wait) => wait.sessionId === sessionId), answer };
  }, [followed, client, sessionId]);
}

function followWaits({ waits }: SessionClient): Follow<readonly Wait[]> {
  return async (_, told, signal) => {
    let state: readonly Wait[] = [];
    for await (const event of waits.events({ signal })) {
      state = reduceWaits(state, event);
      told.live(state);
    }
  };
}
