/** Converts a generator to a stream. `ended` is aborted when the stream has ended, failed or was cancelled. */
export function toReadableStream<T>(items: AsyncGenerator<T>, ended: AbortController): ReadableStream<T> {
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await items.next();
        if (!done) return controller.enqueue(value);
        controller.close();
        ended.abort();
      } catch (error) {
        ended.abort();
        throw error;
      }
    },
    async cancel() {
      // The generator may be waiting for an event. `return` takes effect only after that, so abort the wait first.
      ended.abort();
      await items.return(undefined);
    },
  });
}
