import {
  Backoff,
  isTransient,
  now,
  ProblemError,
  type ReconnectPolicy,
  sleep,
} from "@tombolo/acp-http-client/transport";

/** Decides after each failure whether to try again, and waits in between with exponential backoff. */
export class RetryLoop {
  readonly #policy: ReconnectPolicy;
  readonly #backoff: Backoff;
  #lastActivityAt: number = now();

  constructor(policy: ReconnectPolicy) {
    this.#policy = policy;
    this.#backoff = new Backoff(policy.initialDelayMs, policy.maxDelayMs);
  }

  /** The server is reachable: the time after which to give up starts again. */
  onActivity(): void {
    this.#lastActivityAt = now();
  }

  /** An attempt succeeded: delays start again with the shortest, too. */
  onSuccess(): void {
    this.onActivity();
    this.#backoff.reset();
  }

  /** Waits before the next attempt. Throws the failure if there must not be another. */
  async waitOrThrow(failure: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const givesUp = now() - this.#lastActivityAt > this.#policy.giveUpAfterMs;
    if (!isTransient(failure) || givesUp) throw failure;
    const atLeast = failure instanceof ProblemError ? failure.retryAfterMs : undefined;
    await sleep(this.#backoff.next(atLeast), signal);
    signal.throwIfAborted();
  }
}
