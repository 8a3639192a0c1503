import { type Followed, LOADING } from "./followed.js";

/**
 * Follows something until the signal is aborted or it is over, and tells each state that it has come to. It goes on
 * from what is known, if something is.
 */
export type Follow<State> = (
  known: State | undefined,
  told: Told<State>,
  signal: AbortSignal,
) => Promise<void>;

/** What a follower tells. */
export interface Told<State> {
  live(state: State): void;
  /** Some was missed. */
  gap(): void;
}

/** Something that is followed as long as anybody looks. */
export class Store<State> {
  readonly #follow: Follow<State>;
  readonly #listeners = new Set<() => void>();
  #current: Followed<State> = LOADING;
  #running: AbortController | undefined;
  #telling = false;

  constructor(follow: Follow<State>) {
    this.#follow = follow;
  }

  readonly current = (): Followed<State> => this.#current;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#running === undefined) this.#start();
    return () => {
      this.#listeners.delete(listener);
      // React looks away and back again when it mounts in strict mode, or moves a component.
      setTimeout(() => this.#listeners.size === 0 && this.#stop());
    };
  };

  /** Tries again to follow what is broken or over. */
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
    const set = (next: Followed<State>) => signal.aborted || this.#set(next);
    const told: Told<State> = {
      live: (state) => set({ status: "live", state, error: undefined }),
      gap: () => {
        const { state } = this.#current;
        if (state !== undefined) set({ status: "gap", state, error: undefined });
      },
    };
    this.#follow(this.#current.state, told, signal).then(
      () => set({ status: "ended", state: this.#current.state, error: undefined }),
      (error: unknown) => set({ status: "broken", state: this.#current.state, error }),
    );
  }

  #stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  #set(next: Followed<State>): void {
    this.#current = next;
    if (this.#telling) return;
    // What comes at once is drawn at once: a hundred events of one packet are not a hundred drawings.
    this.#telling = true;
    setTimeout(() => {
      this.#telling = false;
      for (const listener of this.#listeners) listener();
    });
  }
}
