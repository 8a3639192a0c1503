import { type LiveState, LOADING } from "./live-state.js";

/**
 * Follows something, starting from the last known state if there is one. Publishes each new state until the signal is
 * aborted or there will be no more.
 */
export type Follow<State> = (
  known: State | undefined,
  publisher: StatePublisher<State>,
  signal: AbortSignal,
) => Promise<void>;

/** Receives the states of a `Follow` function. */
export interface StatePublisher<State> {
  live(state: State): void;
  /** Events were missed. */
  gap(): void;
}

/** Follows something for as long as it has subscribers. */
export class Store<State> {
  readonly #follow: Follow<State>;
  readonly #listeners = new Set<() => void>();
  #current: LiveState<State> = LOADING;
  #running: AbortController | undefined;
  #notifying = false;

  constructor(follow: Follow<State>) {
    this.#follow = follow;
  }

  readonly current = (): LiveState<State> => this.#current;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#running === undefined) this.#start();
    return () => {
      this.#listeners.delete(listener);
      // Deferred: React unsubscribes and subscribes again when it mounts in strict mode or moves a component.
      setTimeout(() => this.#listeners.size === 0 && this.#stop());
    };
  };

  /** Follows again after `broken` or `ended`. */
  readonly retry = (): void => {
    const { status, state } = this.#current;
    if ((status !== "broken" && status !== "ended") || this.#listeners.size === 0) return;
    this.#stop();
    this.#set(state === undefined ? LOADING : { status: "gap", state, error: undefined });
    this.#start();
  };

  #start(): void {
    this.#running = new AbortController();
    const { signal } = this.#running;
    const set = (next: LiveState<State>) => signal.aborted || this.#set(next);
    const publisher: StatePublisher<State> = {
      live: (state) => set({ status: "live", state, error: undefined }),
      gap: () => {
        const { state } = this.#current;
        if (state !== undefined) set({ status: "gap", state, error: undefined });
      },
    };
    this.#follow(this.#current.state, publisher, signal).then(
      () => set({ status: "ended", state: this.#current.state, error: undefined }),
      (error: unknown) => set({ status: "broken", state: this.#current.state, error }),
    );
  }

  #stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  #set(next: LiveState<State>): void {
    this.#current = next;
    if (this.#notifying) return;
    // Deferred, so that a hundred events of one packet cause one render instead of a hundred.
    this.#notifying = true;
    setTimeout(() => {
      this.#notifying = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
