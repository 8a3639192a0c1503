/** Passes a stream through, and calls `act` once it is over: read to its end, cancelled, or failed. */
export function onStreamEnd(stream: ReadableStream<Uint8Array>, act: () => void): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        act();
        controller.close();
      } catch (error) {
        act();
        controller.error(error);
      }
    },
    async cancel(reason) {
      act();
      await reader.cancel(reason);
    },
  });
}
