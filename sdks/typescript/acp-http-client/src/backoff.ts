/** Exponential backoff with full jitter: each delay is a random part of its upper bound, so that clients spread out. */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  #attempts = 0;

  /** The upper bound of the first delay is `initialMs`; it doubles with each attempt, up to `maxMs`. */
  constructor(initialMs: number, maxMs: number) {
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
  }

  /** The next delay in milliseconds, at least `atLeastMs`. */
  next(atLeastMs = 0): number {
    const bound = Math.min(this.#maxMs, this.#initialMs * 2 ** this.#attempts);
    this.#attempts += 1;
    return Math.max(atLeastMs, Math.random() * bound);
  }

  /** Starts again with the shortest delay, after a success. */
  reset(): void {
    this.#attempts = 0;
  }
}
