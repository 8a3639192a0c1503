import {
  INITIAL_OBSERVATION,
  type Observation,
  type ObservationFrame,
  reduceObservation,
} from "@tombolo/session";
import type { LiveState } from "./live-state.js";
import type { Follow } from "./store.js";
import { StoreRegistry, useLiveState } from "./store-registry.js";

/** The client methods that are needed to watch sessions through a hub. `HubClient` implements it. */
export interface ObservationClient {
  readonly runtimes: {
    /** Reads the observation frames of a session, across lost connections. */
    observe(
      runtimeId: string,
      workerId: string,
      options?: { readonly signal?: AbortSignal },
    ): AsyncIterable<ObservationFrame>;
  };
}

/** An observed session. */
export type LiveObservation = LiveState<Observation> & {
  /** Follows again after `broken` or `ended`. */
  readonly retry: () => void;
};

const stores = new StoreRegistry<Observation>();

/** Watches a session of a runtime through a hub: its state, who else watches it, and problems with the stream. */
export function useObservation(
  client: ObservationClient,
  runtimeId: string,
  workerId: string,
): LiveObservation {
  const follow = followFrames(client, runtimeId, workerId);
  return useLiveState(stores, client, `${runtimeId}/${workerId}`, follow);
}

function followFrames(client: ObservationClient, runtimeId: string, workerId: string): Follow<Observation> {
  return async (known, publisher, signal) => {
    let state = known ?? INITIAL_OBSERVATION;
    for await (const frame of client.runtimes.observe(runtimeId, workerId, { signal })) {
      state = reduceObservation(state, frame);
      publisher.live(state);
    }
  };
}
