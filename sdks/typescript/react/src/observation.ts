import { type Observation, type ObservationFrame, reduceObservation, UNOBSERVED } from "@tombolo/session";
import type { Followed } from "./followed.js";
import { Shared, useFollowed } from "./shared.js";
import type { Follow } from "./store.js";

/** Where the frames of a worker come from, such as a hub; they go on across cut connections. */
export interface ObservationSource {
  watch(workerId: string, options?: { readonly signal?: AbortSignal }): AsyncIterable<ObservationFrame>;
}

/** What whoever watches a worker knows. */
export type Observed = Followed<Observation> & {
  /** Tries again to follow what is broken or over. */
  readonly retry: () => void;
};

const observations = new Shared<Observation>();

/**
 * Watches a worker: the session that it runs, who else is there, and what is wrong with the stream.
 *
 * The source is told apart by its identity: keep it outside of the component, or in `useMemo`.
 */
export function useObservation(source: ObservationSource, workerId: string): Observed {
  return useFollowed(observations, source, workerId, followFrames(source, workerId));
}

function followFrames(source: ObservationSource, workerId: string): Follow<Observation> {
  return async (known, told, signal) => {
    let state = known ?? UNOBSERVED;
    for await (const frame of source.watch(workerId, { signal })) {
      state = reduceObservation(state, frame);
      told.live(state);
    }
  };
}
