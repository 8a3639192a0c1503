/** A time that only grows, in milliseconds. */
export function now(): number {
  return performance.now();
}

/** Waits for so long, or until the signal is aborted, whichever is first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}

/** Acts once nothing was heard for so long. */
export class Watchdog {
  readonly #limitMs: number;
  readonly #act: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #heardAt = now();

  constructor(limitMs: number, act: () => void) {
    this.#limitMs = limitMs;
    this.#act = act;
    this.#timer = setTimeout(this.#check, limitMs);
  }

  /** Something was heard. It costs next to nothing: the timer is not set anew. */
  heard(): void {
    this.#heardAt = now();
  }

  /** Nothing can be heard, as nobody listens, until the promise is settled. */
  async during(deaf: Promise<void>): Promise<void> {
    this.#heardAt = Number.POSITIVE_INFINITY;
    await deaf.finally(() => this.heard());
  }

  /** Never acts from now on. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #check = (): void => {
    const left = Math.min(this.#heardAt + this.#limitMs - now(), this.#limitMs);
    if (left <= 0) return this.#act();
    this.#timer = setTimeout(this.#check, left);
  };
}
