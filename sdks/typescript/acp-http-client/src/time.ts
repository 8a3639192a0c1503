/** Monotonic time in milliseconds. */
export function now(): number {
  return performance.now();
}

/** Resolves after this time, or when the signal is aborted. It never rejects. */
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

/** Calls `onTimeout` once there was no activity for this time. */
export class Watchdog {
  readonly #timeoutMs: number;
  readonly #onTimeout: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastActivityAt = now();

  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onTimeout = onTimeout;
    this.#timer = setTimeout(this.#check, timeoutMs);
  }

  /** Reports activity. It is called for every chunk, so it only notes the time and does not restart the timer. */
  activity(): void {
    this.#lastActivityAt = now();
  }

  /** Does not time out until the promise is settled. For times in which the caller itself does not read. */
  async suspendDuring(promise: Promise<void>): Promise<void> {
    this.#lastActivityAt = Number.POSITIVE_INFINITY;
    await promise.finally(() => this.activity());
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  readonly #check = (): void => {
    const left = Math.min(this.#lastActivityAt + this.#timeoutMs - now(), this.#timeoutMs);
    if (left <= 0) return this.#onTimeout();
    this.#timer = setTimeout(this.#check, left);
  };
}
