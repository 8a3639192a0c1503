import { ConnectionError, SandboxAgentClient, type TerminalEvent } from "@tombolo/sandbox-agent";
import { until } from "tombolo-testing";
import { expect, test } from "vitest";

const PIECES = 10_000;

/** Sends the whole output of a terminal at once, starting after the last sequence number. */
class Flood extends EventTarget {
  binaryType = "blob";
  closed = false;

  constructor(after: number) {
    super();
    queueMicrotask(() => {
      this.dispatchEvent(new Event("open"));
      this.#say(JSON.stringify({ type: "attached", after }));
      for (let piece = after + 1; piece <= PIECES; piece += 1) {
        this.#say(new TextEncoder().encode(String(piece)).buffer);
      }
      this.#say(JSON.stringify({ type: "exited", exitedAt: "2026-01-01T00:00:00Z", code: 0, signal: null }));
    });
  }

  close(): void {
    this.closed = true;
  }

  #say(data: unknown): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }
}

test("a slow reader is disconnected, and continues where it was", async () => {
  const sockets: Flood[] = [];
  const webSocket = (url: string): WebSocket => {
    const socket = new Flood(Number(new URL(url).searchParams.get("after") ?? 0));
    sockets.push(socket);
    return socket as unknown as WebSocket;
  };
  const client = new SandboxAgentClient({ baseUrl: "http://127.0.0.1:9", webSocket });
  const seen: TerminalEvent[] = [];
  for await (const event of client.processes.terminal("prc_1")) seen.push(event);
  const pieces = seen.flatMap((event) =>
    event.type === "output" ? [new TextDecoder().decode(event.bytes)] : [],
  );
  expect(pieces).toEqual(Array.from({ length: PIECES }, (_, at) => String(at + 1)));
  expect(seen.at(-1)).toEqual({ type: "exited", code: 0, signal: null });
  expect(sockets.length).toBe(3);
  expect(sockets.every(({ closed }) => closed)).toBe(true);
});

/** A WebSocket that never opens. */
class Deaf extends EventTarget {
  binaryType = "blob";
  close(): void {}
}

test("a connection that does not open times out, or is aborted", async () => {
  let tries = 0;
  const webSocket = (): WebSocket => {
    tries += 1;
    return new Deaf() as unknown as WebSocket;
  };
  const fetch = async (): Promise<Response> => Response.json({});
  const reconnect = { idleTimeoutMs: 50, giveUpAfterMs: 100, maxDelayMs: 10 };
  const client = new SandboxAgentClient({ baseUrl: "http://127.0.0.1:9", webSocket, fetch, reconnect });
  await expect(client.processes.terminal("prc_1")[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(
    ConnectionError,
  );
  const before = tries;
  const stop = new AbortController();
  const patient = new SandboxAgentClient({ baseUrl: "http://127.0.0.1:9", webSocket, fetch });
  const reading = patient.processes.terminal("prc_1", { signal: stop.signal })[Symbol.asyncIterator]().next();
  await until(() => tries > before);
  stop.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
});
