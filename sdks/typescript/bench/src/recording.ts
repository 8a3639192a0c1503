import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** Serves the same stream of events to whoever asks for it, from a thread of its own. */
export async function serve(bytes: Uint8Array): Promise<{ url: string } & AsyncDisposable> {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  const worker = new Worker(new URL(import.meta.url), { workerData: shared });
  const [port] = await once(worker, "message");
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

if (!isMainThread && workerData instanceof Uint8Array) {
  const bytes = Buffer.from(workerData);
  const server = createServer((request, response) => {
    // A stream that was read to its end has nothing more to say.
    if (request.headers["last-event-id"] !== "0") {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const STEP = 64 << 10;
    let at = 0;
    const more = (): void => {
      while (at < bytes.length) {
        const piece = bytes.subarray(at, at + STEP);
        at += STEP;
        if (!response.write(piece)) {
          response.once("drain", more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
}
