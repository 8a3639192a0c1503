import {
  type AnswerOptions,
  reduceWaits,
  type SessionClient,
  type Wait,
  type WaitAnswer,
} from "@tombolo/session";
import { useMemo } from "react";
import type { LiveState } from "./live-state.js";
import type { Follow } from "./store.js";
import { StoreRegistry, useLiveState } from "./store-registry.js";

/** The open waits, and a function to answer them. */
export type Approvals = LiveState<readonly Wait[]> & {
  /** Answers a wait. The first answer wins; the returned wait names its author. */
  readonly answer: (waitId: string, answer: WaitAnswer, options?: AnswerOptions) => Promise<Wait>;
  /** Follows again after `broken` or `ended`. */
  readonly retry: () => void;
};

/** Options of `useApprovals`. */
export interface ApprovalsOptions {
  /** Only the waits of this session. */
  readonly sessionId?: string;
}

const stores = new StoreRegistry<readonly Wait[]>();

/** Follows the open permission requests and questions of all sessions, or of one, oldest first. */
export function useApprovals(client: SessionClient, { sessionId }: ApprovalsOptions = {}): Approvals {
  const waits = useLiveState(stores, client, "waits", followWaits(client));
  return useMemo(() => {
    const answer: Approvals["answer"] = (id, value, options) => client.waits.answer(id, value, options);
    if (sessionId === undefined || waits.state === undefined) return { ...waits, answer };
    return { ...waits, state: waits.state.filter((wait) => wait.sessionId === sessionId), answer };
  }, [waits, client, sessionId]);
}

function followWaits({ waits }: SessionClient): Follow<readonly Wait[]> {
  return async (_, publisher, signal) => {
    let state: readonly Wait[] = [];
    for await (const event of waits.events({ signal })) {
      state = reduceWaits(state, event);
      publisher.live(state);
    }
  };
}
