import {
  type AgentEvent,
  ConnectionError,
  NotConnectedError,
  SandboxAgentClient,
} from "@tombolo/sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processes, Reading, texts } from "./talking.js";

/** An agent that never answers, and one that also ignores signals. */
const CONFIG = `
[agents.mute]
command = ["sleep", "1000"]
[agents.stubborn]
command = ["bash", "-c", "trap '' TERM; while true; do sleep 0.1; done"]
`;
const daemon = daemonOf({ config: CONFIG });
let network: Network;
beforeAll(async () => {
  network = await Network.start(daemon.port);
});
afterAll(() => network[Symbol.asyncDispose]());

/** `disconnect()` and disposal must return within 1 s and leave nothing running. */
const LIMIT_MS = 1_000;

const WAYS = {
  "disconnect()": (client: SandboxAgentClient) => client.disconnect(),
  dispose: (client: SandboxAgentClient) => client[Symbol.asyncDispose](),
};

/** The prompt of the agent, and when it is in the middle of its turn. */
const SCENES = {
  "an agent that has nothing to do": undefined,
  "an agent that says all it can": {
    prompt: "/chunks 1000000",
    begun: (said: readonly AgentEvent[]) => said.length > 1_000,
  },
  "a turn that hangs": {
    prompt: "begun\n/hang",
    begun: (said: readonly AgentEvent[]) => texts(said).includes("begun"),
  },
};

const CASES = Object.entries(SCENES).flatMap(([name, scene]) =>
  Object.entries(WAYS).map(([way, close]) => ({ name, scene, way, close })),
);

test.each(CASES)("`$way` takes less than a second with $name, and leaves no agent", async (one) => {
  const { name, scene, way, close } = one;
  const instanceId = `${way} ${name}`.replaceAll(/\W+/g, "-");
  const client = new SandboxAgentClient({ baseUrl: network.url, agent: "mock", instanceId });
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory: "/" });
  const turn = scene && client.prompt(sessionId, scene.prompt).catch((error: unknown) => error);
  await until(() => scene === undefined || scene.begun(reading.items));
  expect(await processes(daemon.url)).toContain(instanceId);

  const since = performance.now();
  await close(client);
  expect(performance.now() - since).toBeLessThan(LIMIT_MS);

  expect(await processes(daemon.url)).not.toContain(instanceId);
  if (turn !== undefined) expect(await turn).toBeInstanceOf(NotConnectedError);
  await reading.done;
});

test.each(["mute", "stubborn"])(
  "disconnecting takes less than a second while connecting to a %s agent",
  async (agent) => {
    const client = new SandboxAgentClient({ baseUrl: network.url, agent, instanceId: agent });
    const session = client.newSession({ directory: "/" }).catch((error: unknown) => error);
    await until(async () => (await processes(daemon.url)).includes(agent));
    const since = performance.now();
    await client.disconnect();
    expect(performance.now() - since).toBeLessThan(LIMIT_MS);
    expect(await processes(daemon.url)).not.toContain(agent);
    expect(await session).toBeInstanceOf(NotConnectedError);
  },
);

test("cancelling a connection can leave the agent running", async () => {
  const client = new SandboxAgentClient({ baseUrl: network.url, agent: "mute", instanceId: "shared" });
  await until(async () => (await processes(daemon.url)).includes("shared"));
  await client.disconnect({ keepAgent: true });
  expect(await processes(daemon.url)).toContain("shared");
});

test("disconnecting from a server that does not answer takes less than a second and throws", async () => {
  const client = new SandboxAgentClient({ baseUrl: network.url, agent: "mock", instanceId: "unreachable" });
  const reading = new Reading(client.events());
  await client.newSession({ directory: "/" });
  network.freeze();
  const since = performance.now();
  await expect(client.disconnect()).rejects.toBeInstanceOf(ConnectionError);
  expect(performance.now() - since).toBeLessThan(LIMIT_MS);
  expect(client.connected).toBe(false);
  await reading.done;
});

test("an agent without an instanceId ends after lingerMs", async () => {
  const options = { baseUrl: daemon.url, agent: "mock" };
  await using nameless = new SandboxAgentClient(options);
  await using named = new SandboxAgentClient({ ...options, instanceId: "named" });
  await using brief = new SandboxAgentClient({ ...options, instanceId: "brief", lingerMs: 60_000 });
  for (const client of [nameless, named, brief]) await client.newSession({ directory: "/" });
  const response = await fetch(`${daemon.url}/v1/acp`);
  const { items } = (await response.json()) as { items: { serverId: string; lingerMs: number | null }[] };
  const lingers = new Map(items.map(({ serverId, lingerMs }) => [serverId, lingerMs]));
  expect([...lingers.values()]).toContain(24 * 3_600_000);
  expect([lingers.get("named"), lingers.get("brief")]).toEqual([null, 60_000]);
});

test("an agent with an instanceId can be kept for other clients", async () => {
  const options = { baseUrl: daemon.url, agent: "mock", instanceId: "kept" };
  const client = new SandboxAgentClient(options);
  const { sessionId } = await client.newSession({ directory: "/" });
  await client.disconnect({ keepAgent: true });
  expect(await processes(daemon.url)).toContain("kept");
  await using next = new SandboxAgentClient(options);
  expect(await next.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
});

test("closed clients leave no connections", async () => {
  expect(network.connections).toBeGreaterThan(0);
  await until(() => network.open === 0);
});
