import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon, programFrom } from "tombolo-testing";
import { busy, flood, frozen, hanging, idle, type Scene, unread } from "./scenes.ts";
import { Stage } from "./stage.ts";
import { print } from "./table.ts";

const ROUNDS = 5;

/** How long it may take, in milliseconds. */
const LIMIT_MS = 1_000;

/** How long a connection that nobody uses is kept by the platform, which may need it again: 4 s, on Node. */
const KEPT_MS = 6_000;

/** The mock, and one that ends by nothing but force while it is busy. */
const AGENTS = `
[agents.stubborn]
command = ["sh", "-c", "trap '' TERM; exec '${programFrom("TOMBOLO_BIN")}' mock-agent"]
`;

const SCENES: readonly (readonly [name: string, scene: Scene, agent?: string])[] = [
  ["nothing happens", idle],
  ["the agent floods", flood],
  ["the agent floods, and a reader stands still", unread],
  ["a turn hangs", hanging],
  ["50 requests are open", busy],
  ["the agent does not want to end", busy, "stubborn"],
  ["the network is frozen", frozen],
];

const WAYS: readonly ((client: SandboxAgentClient) => Promise<void>)[] = [
  (client) => client.disconnect(),
  (client) => client[Symbol.asyncDispose](),
];

/** How a client was closed, and what was left of it. */
interface Closing {
  readonly ms: number;
  readonly failed: boolean;
  readonly agents: number;
  readonly connections: number;
}

/** How long it takes to close a client: the worst of some rounds. Tells where it takes too long or leaves something. */
export async function closing(): Promise<readonly string[]> {
  await using daemon = await Daemon.start({ config: AGENTS });
  const rows: (readonly (string | number)[])[] = [];
  const missed: string[] = [];
  for (const [name, scene, agent = "mock"] of SCENES) {
    const ways: Closing[] = [];
    for (const way of WAYS) {
      ways.push(worst(await rounds(() => Stage.start(daemon, agent), scene, way)));
    }
    const { failed, agents, connections } = worst(ways);
    rows.push([name, ...ways.map(({ ms }) => Math.round(ms)), agents, connections]);
    // A server that cannot be reached cannot be told to end an agent, which is no success.
    const reached = scene !== frozen;
    const leaves = connections > 0 || (reached && (failed || agents > 0));
    if (leaves || ways.some(({ ms }) => ms > LIMIT_MS)) missed.push(`closing while ${name}`);
  }
  print(
    [
      `closing while, worst of ${ROUNDS}`,
      "disconnect(), ms",
      "dispose, ms",
      "agents left",
      "connections left",
    ],
    rows,
  );
  return missed;
}

async function rounds(
  start: () => Promise<Stage>,
  scene: Scene,
  way: (typeof WAYS)[number],
): Promise<readonly Closing[]> {
  const closings: Promise<Closing>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const stage = await start();
    await scene(stage);
    const since = performance.now();
    const failed = await way(stage.client).then(
      () => false,
      () => true,
    );
    const ms = performance.now() - since;
    const agents = (await stage.hasAgent()) ? 1 : 0;
    closings.push(left(stage).then((connections) => ({ ms, failed, agents, connections })));
  }
  return Promise.all(closings);
}

/** How many connections there are when the platform no longer keeps them. */
async function left(stage: Stage): Promise<number> {
  await stage.over();
  for (let waited = 0; waited < KEPT_MS && stage.network.open > 0; waited += 50) await sleep(50);
  const { open } = stage.network;
  await stage[Symbol.asyncDispose]();
  return open;
}

function worst(closings: readonly Closing[]): Closing {
  return {
    ms: Math.max(...closings.map(({ ms }) => ms)),
    failed: closings.some(({ failed }) => failed),
    agents: Math.max(...closings.map(({ agents }) => agents)),
    connections: Math.max(...closings.map(({ connections }) => connections)),
  };
}
