import { AcpHttpClient } from "acp-http-client";
import type { Daemon } from "tombolo-testing";
import { serve } from "./recording.ts";

const UPDATES = 200_000;
const ROUNDS = 7;

/** How long it takes to read one stream, in milliseconds, the best of some rounds. */
export interface Throughput {
  readonly updates: number;
  readonly megabytes: number;
  /** With nothing but `fetch`, and each message parsed. */
  readonly bare: number;
  /** With the client. */
  readonly client: number;
}

/** Reads the same recorded stream with nothing but `fetch`, and with the client. */
export async function throughput(daemon: Daemon): Promise<Throughput> {
  const bytes = await record(daemon);
  await using server = await serve(bytes);
  const best = { bare: Number.POSITIVE_INFINITY, client: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round += 1) {
    best.bare = Math.min(best.bare, await timed(() => bare(server.url)));
    best.client = Math.min(best.client, await timed(() => client(server.url)));
  }
  return { updates: UPDATES, megabytes: bytes.length / 1e6, ...best };
}

/** What a daemon streams of one long turn, as it is. */
async function record(daemon: Daemon): Promise<Uint8Array> {
  const url = `${daemon.url}/v1/acp/recorded`;
  await using client = new AcpHttpClient({ url, agent: "mock" });
  await client.request("initialize");
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", {
    cwd: "/",
    mcpServers: [],
  });
  const prompt = [{ type: "text", text: `/updates ${UPDATES} 40` }];
  await client.request("session/prompt", { sessionId, prompt });
  await client.request("no/such/method").catch(() => {});
  await client.send({ jsonrpc: "2.0", id: "last", method: "no/such/method" });
  const response = await fetch(url, { headers: { "last-event-id": "0" } });
  const chunks: Uint8Array[] = [];
  let tail = "";
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    tail = (tail + Buffer.from(chunk).toString("latin1")).slice(-500);
    if (/"id":"last"[^\n]*\n\n$/.test(tail)) break;
  }
  await client.close({ delete: true });
  return Buffer.concat(chunks);
}

async function timed(read: () => Promise<number>): Promise<number> {
  const since = performance.now();
  const count = await read();
  const took = performance.now() - since;
  if (count < UPDATES) throw new Error(`${count} of ${UPDATES} updates were read`);
  return took;
}

/** As little as it takes to read messages from a stream of events that is known to be whole. */
async function bare(url: string): Promise<number> {
  const response = await fetch(url, { headers: { "last-event-id": "0" } });
  const decoder = new TextDecoder();
  let [count, text] = [0, ""];
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n", start)) {
      const data = text.indexOf("data: ", start);
      if (data !== -1 && data < end && "method" in JSON.parse(text.slice(data + 6, end))) count += 1;
      start = end + 2;
    }
    text = text.slice(start);
  }
  return count;
}

async function client(url: string): Promise<number> {
  await using client = new AcpHttpClient({ url });
  let count = 0;
  for await (const event of client.events()) {
    if (event.type === "message" && "method" in event.message) count += 1;
    else if (event.type === "message" && "id" in event.message && event.message.id === "last") break;
  }
  return count;
}
