import { AcpHttpClient } from "@tombolo/acp-http-client";
import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon } from "tombolo-testing";
import { type Recording, serve } from "./recording.ts";
import { print } from "./table.ts";

const UPDATES = 200_000;
const ROUNDS = 15;

/** How many times longer than with plain `fetch` reading a stream may take. */
const COST_MAX = 2;

/** The readers to compare; the first is the baseline. */
const READERS: readonly (readonly [string, (url: string) => Promise<number>])[] = [
  ["bare `fetch`", bare],
  ["acp-http-client", acp],
  ["sandbox-agent", sandbox],
];

/** Measures reading the same recorded stream: the best of several rounds. Returns the readers that are too slow. */
export async function throughput(): Promise<readonly string[]> {
  const recording = await record();
  await using server = await serve(recording);
  const best = READERS.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, [, read]] of READERS.entries()) {
      best[at] = Math.min(best[at] ?? 0, await timed(() => read(server.url)));
    }
  }
  const costs = best.map((ms) => ms / (best[0] ?? 0));
  const megabytes = (recording.bytes.length / 1e6).toFixed(0);
  print(
    [`${UPDATES} updates, ${megabytes} MB`, "updates/s", `cost, at most ${COST_MAX}`],
    READERS.map(([name], at) => [
      name,
      `${Math.round(UPDATES / (best[at] ?? 0))} 000`,
      costs[at]?.toFixed(2) ?? "",
    ]),
  );
  return READERS.flatMap(([name], at) => ((costs[at] ?? 0) > COST_MAX ? [`throughput of ${name}`] : []));
}

/** Records the stream of one long turn. */
async function record(): Promise<Recording> {
  const large = ["--events-max", "300000", "--events-bytes-max", String(1 << 30)];
  await using daemon = await Daemon.start({ args: large });
  const url = `${daemon.url}/v1/acp/recorded`;
  await using client = new AcpHttpClient({ url, agent: "mock" });
  await client.request("initialize");
  const session = { cwd: "/", mcpServers: [] };
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", session);
  const prompt = [{ type: "text", text: `/updates ${UPDATES} 40` }];
  await client.request("session/prompt", { sessionId, prompt });
  await client.send({ jsonrpc: "2.0", id: "last", method: "no/such/method" });
  const response = await fetch(url, { headers: { "last-event-id": "0" } });
  const chunks: Uint8Array[] = [];
  let tail = "";
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    tail = (tail + Buffer.from(chunk).toString("latin1")).slice(-500);
    if (/"id":"last"[^\n]*\n\n$/.test(tail)) break;
  }
  return { sessionId, bytes: Buffer.concat(chunks) };
}

async function timed(read: () => Promise<number>): Promise<number> {
  const since = performance.now();
  const count = await read();
  const took = performance.now() - since;
  if (count < UPDATES) throw new Error(`${count} of ${UPDATES} updates were read`);
  return took;
}

/** The least work to read messages from a stream that is known to be complete. */
async function bare(url: string): Promise<number> {
  const response = await fetch(url, { headers: { "last-event-id": "0" } });
  const decoder = new TextDecoder();
  let count = 0;
  let text = "";
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

/** Reads all events of an `AcpHttpClient`. */
async function acp(url: string): Promise<number> {
  await using client = new AcpHttpClient({ url });
  let count = 0;
  for await (const event of client.events()) {
    if (event.type === "message" && "method" in event.message) count += 1;
    else if (event.type === "message" && "id" in event.message && event.message.id === "last") break;
  }
  return count;
}

/** Reads all events of a `SandboxAgentClient`, which also counts them for the session. */
async function sandbox(url: string): Promise<number> {
  await using client = new SandboxAgentClient({ baseUrl: url, agent: "mock" });
  const events = client.events();
  await client.newSession({ directory: "/" });
  let count = 0;
  for await (const event of events) {
    if (event.type === "sessionUpdate") count += 1;
    if (count === UPDATES) break;
  }
  return count;
}
