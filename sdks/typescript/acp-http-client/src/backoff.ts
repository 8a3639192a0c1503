/**
 * Longer and longer pauses between tries, each a random part of its longest ("full jitter"), so that clients
 * spread.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #tries = 0;

  /** The first pause is at most `firstMs`; the longest is doubled with each one, up to `maxMs`. */
  constructor(firstMs: number, maxMs: number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** The next pause, which is not shorter than `atLeastMs`. */
  next(atLeastMs = 0): number {
    const longest = Math.min(this.#maxMs, this.#firstMs * 2 ** this.#tries);
    this.#tries += 1;
    return Math.max(atLeastMs, Math.random() * longest);
  }

  /** Starts anew: what was tried has worked. */
  reset(): void {
    this.#tries = 0;
  }
}
