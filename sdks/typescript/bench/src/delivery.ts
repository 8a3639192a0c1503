import { setTimeout as sleep } from "node:timers/promises";
import { AcpHttpClient } from "acp-http-client";
import { AcpHttpClient as Published } from "published-acp-http-client";
import { type Daemon, Network } from "tombolo-testing";
import { Counter, type Tally } from "./tally.ts";

const TURNS = 50;
const UPDATES = 2_000;
const CUTS = 50;

/** How long updates that are late are waited for. */
const LATE_MS = 300;

const PROMPT = `/chunks ${UPDATES}`;

/** Our client, while the network is cut again and again. */
export async function ours(daemon: Daemon): Promise<Tally> {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "ours", agent: "mock" });
  const counter = new Counter(UPDATES);
  const reading = (async () => {
    for await (const event of client.events()) {
      if (event.type === "gap") throw new Error(`a gap: ${JSON.stringify(event)}`);
      if (event.type === "message" && "method" in event.message) counter.update(textOf(event.message.params));
    }
  })();
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", {
    cwd: "/",
    mcpServers: [],
  });
  const since = performance.now();
  let longest = 50;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const stop = cutting(network, (CUTS * (turn + 1)) / TURNS, longest);
    const began = performance.now();
    await client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: PROMPT }] });
    counter.over();
    longest = performance.now() - began;
    stop();
    counter.next();
  }
  const seconds = (performance.now() - since) / 1000;
  await client.close({ delete: true });
  await reading;
  return counter.tally(network.cuts, seconds);
}

/** Cuts some connection at random moments, until there were so many cuts. */
function cutting(network: Network, until: number, withinMs: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  const plan = (): void => {
    if (network.cuts < until) timer = setTimeout(cut, Math.random() * withinMs);
  };
  const cut = (): void => {
    network.cutAny();
    plan();
  };
  plan();
  return () => clearTimeout(timer);
}

/** The published client, on a network that is never cut. */
export async function published(daemon: Daemon): Promise<Tally> {
  const counter = new Counter(UPDATES);
  const client = new Published({
    baseUrl: daemon.url,
    transport: { path: "/v1/acp/published", bootstrapQuery: { agent: "mock" } },
    client: {
      sessionUpdate: async (params) => counter.update(textOf(params)),
      requestPermission: async () => ({ outcome: { outcome: "cancelled" } }),
    },
  });
  await client.initialize();
  const { sessionId } = await client.newSession({ cwd: "/", mcpServers: [] });
  const since = performance.now();
  for (let turn = 0; turn < TURNS; turn += 1) {
    await client.prompt({ sessionId, prompt: [{ type: "text", text: PROMPT }] });
    counter.over();
    for (let waited = 0; waited < LATE_MS && counter.seen < UPDATES; waited += 5) await sleep(5);
    counter.next();
  }
  const seconds = (performance.now() - since) / 1000;
  await client.disconnect();
  return counter.tally(0, seconds);
}

function textOf(params: unknown): string {
  const { update } = params as { update: { content?: { text?: string } } };
  return update.content?.text ?? "";
}
