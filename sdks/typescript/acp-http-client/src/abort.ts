/**
 * Acts when the first of the signals is aborted, at once if one is already, until the returned function is
 * called.
 *
 * `AbortSignal.any` would be shorter, but what it makes of a signal that lives long is kept as long in some
 * engines.
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

/** The promise, unless one of the signals is aborted first. */
export function unlessAborted<T>(
  promise: Promise<T>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = onAbort(signals, reject);
    promise.then(resolve, reject).finally(release);
  });
}
