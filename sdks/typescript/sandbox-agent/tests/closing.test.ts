import { type AgentEvent, NotConnectedError, SandboxAgentClient } from "sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processes, Reading, texts } from "./talking.js";

const daemon = daemonOf();
let network: Network;
beforeAll(async () => {
  network = await Network.start(daemon.port);
});
afterAll(() => network[Symbol.asyncDispose]());

/** The issue: "`disconnect()` and `dispose()` return within 1 s with nothing left running". */
const LIMIT_MS = 1_000;

const WAYS = {
  "disconnect()": (client: SandboxAgentClient) => client.disconnect(),
  dispose: (client: SandboxAgentClient) => client[Symbol.asyncDispose](),
};

/** What the agent is told, and when it is in the middle of that. */
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

test.each(CASES)("`$way` takes less than a second, with $name, and leaves none", async (one) => {
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

test("no connection of those who were closed is left", async () => {
  expect(network.connections).toBeGreaterThan(0);
  await until(() => network.open === 0);
});
