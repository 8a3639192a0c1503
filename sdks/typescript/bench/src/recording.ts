import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** The recorded stream of one session. */
export interface Recording {
  readonly sessionId: string;
  readonly bytes: Uint8Array;
}

/**
 * Serves a recording from its own thread: at `/` immediately, and at other paths once the client has created the
 * session.
 */
export async function serve({ sessionId, bytes }: Recording): Promise<{ url: string } & AsyncDisposable> {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  const worker = new Worker(new URL(import.meta.url), { workerData: { sessionId, bytes: shared } });
  const [port] = await once(worker, "message");
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

/** Answers like a daemon whose agent sends the recording. */
class RecordingServer {
  readonly #sessionId: string;
  readonly #bytes: Buffer;
  /** Resolved when the session is created, by path. */
  readonly #created = new Map<string, PromiseWithResolvers<void>>();

  constructor({ sessionId, bytes }: Recording) {
    this.#sessionId = sessionId;
    this.#bytes = Buffer.from(bytes);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://recording");
    if (request.method === "POST") {
      const { method } = (await json(request)) as { method?: string };
      if (method === "session/new") this.#session(pathname).resolve();
      response.end(JSON.stringify({ jsonrpc: "2.0", id: null, result: { sessionId: this.#sessionId } }));
    } else if (request.headers["last-event-id"] === "0") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      if (pathname !== "/") await this.#session(pathname).promise;
      this.#play(response);
    } else {
      // After the whole recording there is nothing more to read.
      response.writeHead(request.method === "DELETE" ? 204 : 404).end();
    }
  }

  #session(pathname: string): PromiseWithResolvers<void> {
    const session = this.#created.get(pathname) ?? Promise.withResolvers();
    this.#created.set(pathname, session);
    return session;
  }

  #play(response: ServerResponse): void {
    const STEP = 64 << 10;
    let at = 0;
    const more = (): void => {
      while (at < this.#bytes.length) {
        const piece = this.#bytes.subarray(at, at + STEP);
        at += STEP;
        if (!response.write(piece)) {
          response.once("drain", more);
          return;
        }
      }
      response.end();
    };
    more();
  }
}

if (!isMainThread && workerData?.bytes instanceof Uint8Array) {
  const player = new RecordingServer(workerData);
  const server = createServer((request, response) => player.answer(request, response));
  server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
}
