import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Daemon, programFrom } from "tombolo-testing";
import { busy, flood, frozen, hanging, idle, type Scene, unread } from "./scenes.ts";
import { Stage } from "./stage.ts";
import { print } from "./table.ts";

const ROUNDS = 5;

/** Time limit for closing. */
const LIMIT_MS = 1_000;

/** Longer than Node keeps an idle connection open (4 s). */
const IDLE_CONNECTION_MS = 6_000;

/** The mock agent, and a variant that must be killed while it is busy. */
const AGENTS = `
[agents.stubborn]
command = ["sh", "-c", "trap '' TERM; exec '${programFrom("TOMBOLO_BIN")}' mock-agent"]
`;

const SCENES: readonly (readonly [name: string, scene: Scene, agent?: string])[] = [
  ["nothing happens", idle],
  ["the agent floods", flood],
  ["the agent floods, and a reader pauses", unread],
  ["a turn hangs", hanging],
  ["50 requests are open", busy],
  ["the agent ignores signals", busy, "stubborn"],
  ["the network is frozen", frozen],
];

const WAYS: readonly ((client: SandboxAgentClient) => Promise<void>)[] = [
  (client) => client.disconnect(),
  (client) => client[Symbol.asyncDispose](),
];

/** Duration and leftovers of closing a client. */
interface CloseResult {
  readonly ms: number;
  readonly failed: boolean;
  readonly agents: number;
  readonly connections: number;
}

/** Measures how long closing a client takes: the worst of several rounds. Returns the scenes that miss the limits. */
export async function closing(): Promise<readonly string[]> {
  await using daemon = await Daemon.start({ config: AGENTS });
  const rows: (readonly (string | number)[])[] = [];
  const missed: string[] = [];
  for (const [name, scene, agent = "mock"] of SCENES) {
    const ways: CloseResult[] = [];
    for (const way of WAYS) {
      ways.push(worst(await rounds(() => Stage.start(daemon, agent), scene, way)));
    }
    const { failed, agents, connections } = worst(ways);
    rows.push([name, ...ways.map(({ ms }) => Math.round(ms)), agents, connections]);
    // An unreachable server cannot end the agent, so the failure is expected there.
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
): Promise<readonly CloseResult[]> {
  const closings: Promise<CloseResult>[] = [];
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
    closings.push(connectionsLeft(stage).then((connections) => ({ ms, failed, agents, connections })));
  }
  return Promise.all(closings);
}

/** The number of connections after idle ones were closed. */
async function connectionsLeft(stage: Stage): Promise<number> {
  await stage.settled();
  for (let waited = 0; waited < IDLE_CONNECTION_MS && stage.network.open > 0; waited += 50) await sleep(50);
  const { open } = stage.network;
  await stage[Symbol.asyncDispose]();
  return open;
}

function worst(closings: readonly CloseResult[]): CloseResult {
  return {
    ms: Math.max(...closings.map(({ ms }) => ms)),
    failed: closings.some(({ failed }) => failed),
    agents: Math.max(...closings.map(({ agents }) => agents)),
    connections: Math.max(...closings.map(({ connections }) => connections)),
  };
}
