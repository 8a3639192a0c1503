import {
  Backoff,
  ConnectionError,
  now,
  type Patience,
  ProblemError,
  sleep,
} from "@tombolo/acp-http-client/transport";

/** Refusals that may be none in a moment. */
const PASSING = [408, 429, 502, 503, 504];

/** Whether a failure may be none when it is tried again. */
export function passes(failure: unknown): boolean {
  if (failure instanceof ConnectionError) return true;
  return failure instanceof ProblemError && PASSING.includes(failure.status);
}

/** Tries that follow each other, with longer and longer random pauses, until patience ends. */
export class Retry {
  readonly #patience: Patience;
  readonly #backoff: Backoff;
  #since: number = now();

  constructor(patience: Patience) {
    this.#patience = patience;
    this.#backoff = new Backoff(patience.firstPauseMs, patience.maxPauseMs);
  }

  /** The server is there: patience begins anew. */
  heard(): void {
    this.#since = now();
  }

  /** It has worked: pauses begin anew. */
  reset(): void {
    this.heard();
    this.#backoff.reset();
  }

  /** Waits before the next try; throws the failure if there is to be none. */
  async after(failure: unknown, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!passes(failure) || now() - this.#since > this.#patience.patienceMs) throw failure;
    const atLeast = failure instanceof ProblemError ? failure.retryAfterMs : undefined;
    await sleep(this.#backoff.next(atLeast), signal);
    signal.throwIfAborted();
  }
}
