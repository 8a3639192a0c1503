import {
  INITIAL_OBSERVATION,
  type Observation,
  type ObservationFrame,
  reduceObservation,
} from "@tombolo/session";
import type { Followed } from "./followed.js";
import { Shared, useFollowed } from "./shared.js";
import type { Follow } from "./store.js";

/** What is needed of a client to watch workers; `HubClient` has it. */
export interface ObservationClient {
  readonly runtimes: {
    /** The frames of a worker, which go on across cut connections. */
    observe(
      runtimeId: string,
      workerId: string,
      options?: { readonly signal?: AbortSignal },
    ): AsyncIterable<ObservationFrame>;
  };
}

/** What whoever watches a worker knows. */
export type Observed = Followed<Observation> & {
  /** Tries again to follow what is broken or over. */
  readonly retry: () => void;
};

const observations = new Shared<Observation>();

/** Watches a worker of a runtime: the session that it runs, who else is there, and what is wrong with the stream. */
export function useObservation(client: ObservationClient, runtimeId: string, workerId: string): Observed {
  const follow = followFrames(client, runtimeId, workerId);
  return useFollowed(observations, client, `${runtimeId}/${workerId}`, follow);
}

function followFrames(client: ObservationClient, runtimeId: string, workerId: string): Follow<Observation> {
  return async (known, told, signal) => {
    let state = known ?? INITIAL_OBSERVATION;
    for await (const frame of client.runtimes.observe(runtimeId, workerId, { signal })) {
      state = reduceObservation(state, frame);
      told.live(state);
    }
  };
}
