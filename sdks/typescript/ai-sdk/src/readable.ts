/** A stream of what a generator yields. `ended` is aborted when it is over, however that came. */
export function readable<T>(items: AsyncGenerator<T>, ended: AbortController): ReadableStream<T> {
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
      // A generator that waits for an event ends only with what it waits for.
      ended.abort();
      await items.return(undefined);
    },
  });
}
