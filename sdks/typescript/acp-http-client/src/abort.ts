/**
 * Calls `act` with the reason when the first of the signals is aborted, immediately if one already is. The returned
 * function removes the listeners.
 *
 * `AbortSignal.any` would be shorter. But some engines keep every signal that it derives alive for as long as its
 * source lives, which leaks with each request on a long-lived signal.
 */
export function onAbort(
  signals: readonly (AbortSignal | undefined)[],
  act: (reason: unknown) => void,
): () => void {
  const listeners = signals.flatMap((signal) => {
    if (signal === undefined) return [];
    return [{ signal, listener: () => settle(signal.reason) }];
  });
  const release = (): void => {
    for (const { signal, listener } of listeners) signal.removeEventListener("abort", listener);
  };
  const settle = (reason: unknown): void => {
    release();
    act(reason);
  };
  const aborted = listeners.find(({ signal }) => signal.aborted);
  if (aborted !== undefined) {
    act(aborted.signal.reason);
    return () => {};
  }
  for (const { signal, listener } of listeners) signal.addEventListener("abort", listener);
  return release;
}

/** Resolves like the promise, or rejects with the abort reason if one of the signals is aborted first. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signals, reject);
    promise.then(resolve, reject).finally(release);
  });
}
