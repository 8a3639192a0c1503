import {
  AlreadyConnectedError,
  ConnectionError,
  NotConnectedError,
  ProblemError,
  SandboxAgentClient,
  type SandboxAgentOptions,
} from "@tombolo/sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { processes, Reading, texts } from "./talking.js";

const daemon = daemonOf();
const clientOf = (options: Partial<SandboxAgentOptions> = {}): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, agent: "mock", ...options });

/** All methods that need a connection. */
const CALLS: readonly [string, (client: SandboxAgentClient) => Promise<unknown>][] = [
  ["newSession", (client) => client.newSession({ directory: "/" })],
  ["loadSession", (client) => client.loadSession("s", { directory: "/" })],
  ["resumeSession", (client) => client.resumeSession("s", { directory: "/" })],
  ["forkSession", (client) => client.forkSession("s", { directory: "/" })],
  ["prompt", (client) => client.prompt("s", "hello")],
  ["cancel", (client) => client.cancel("s")],
  ["setSessionMode", (client) => client.setSessionMode("s", "plan")],
  ["setSessionModel", (client) => client.setSessionModel("s", "mock")],
  ["setSessionConfigOption", (client) => client.setSessionConfigOption("s", "o", "v")],
  ["listModels", (client) => client.listModels("s")],
  ["listSessions", (client) => client.listSessions()],
  ["setMetadata", (client) => client.setMetadata("s", {})],
  ["detachSession", (client) => client.detachSession("s")],
  ["terminateSession", (client) => client.terminateSession("s")],
  ["events", async (client) => client.events()],
  ["disconnect", (client) => client.disconnect()],
];

test("typescript-2: a client connects by itself, and what is asked meanwhile waits", async () => {
  await using client = clientOf({ instanceId: "auto" });
  expect(client.connected).toBe(true);
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory: "/" });
  expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  expect(texts(reading.items)).toEqual(["hello"]);
  expect(await processes(daemon.url)).toContain("auto");
});

test("typescript-2: `autoConnect: false` opts out", async () => {
  await using client = clientOf({ instanceId: "opted-out", autoConnect: false });
  expect(client.connected).toBe(false);
  expect(await client.health()).toEqual({ status: "ok" });
  expect(await processes(daemon.url)).not.toContain("opted-out");
  expect(await client.connect()).toMatchObject({ name: "mock", features: ["loadSession"] });
  expect(await processes(daemon.url)).toContain("opted-out");
});

test("typescript-2: without an agent there is nothing to connect to", async () => {
  await using client = clientOf({ agent: undefined });
  expect(client.connected).toBe(false);
  await expect(client.connect()).rejects.toBeInstanceOf(TypeError);
  expect(await client.connect({ agent: "mock" })).toMatchObject({ name: "mock" });
});

test.each(CALLS)("typescript-2: `%s` needs a connection", async (_, call) => {
  const client = clientOf({ autoConnect: false });
  await expect((async () => call(client))()).rejects.toBeInstanceOf(NotConnectedError);
  await client.connect();
  await client.disconnect();
  await expect((async () => call(client))()).rejects.toBeInstanceOf(NotConnectedError);
});

test("typescript-2: a client connects once at a time", async () => {
  await using client = clientOf({ instanceId: "once" });
  await expect(client.connect()).rejects.toBeInstanceOf(AlreadyConnectedError);
  await client.newSession({ directory: "/" });
  await expect(client.connect()).rejects.toBeInstanceOf(AlreadyConnectedError);
  expect((await processes(daemon.url)).filter((id) => id === "once")).toEqual(["once"]);
  await client.disconnect();
  expect(client.connected).toBe(false);
  expect(await processes(daemon.url)).not.toContain("once");
  await client.connect();
  const { sessionId } = await client.newSession({ directory: "/" });
  expect(await client.prompt(sessionId, "again")).toEqual({ stopReason: "end_turn" });
});

test("a client that is disconnected ends its prompts and its reading", async () => {
  const client = clientOf();
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory: "/" });
  const prompt = client.prompt(sessionId, "begun\n/hang").catch((error: unknown) => error);
  await until(() => texts(reading.items).includes("begun"));
  await client.disconnect();
  expect(await prompt).toBeInstanceOf(NotConnectedError);
  await reading.done;
});

test("disconnecting while connecting leaves nothing behind, and the client can connect again", async () => {
  await using client = clientOf({ instanceId: "hasty" });
  const reading = new Reading(client.events());
  await client.disconnect();
  await reading.done;
  expect(client.connected).toBe(false);
  expect(await processes(daemon.url)).not.toContain("hasty");
  expect(await client.connect()).toMatchObject({ name: "mock" });
});

test("disconnecting works if the agent is gone already", async () => {
  const client = clientOf({ instanceId: "gone" });
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory: "/" });
  await fetch(`${daemon.url}/v1/acp/gone`, { method: "DELETE" });
  const ended = await reading.until(({ type }) => type === "sessionEnded");
  expect(ended).toMatchObject({ sessionId });
  await client.disconnect();
  await reading.done;
});

test("disconnecting from an unreachable server throws, and the client is disconnected", async () => {
  await using network = await Network.start(daemon.port);
  const client = clientOf({ baseUrl: network.url });
  const reading = new Reading(client.events());
  await client.newSession({ directory: "/" });
  network.refuse(true);
  network.cut();
  await expect(client.disconnect()).rejects.toBeInstanceOf(ConnectionError);
  expect(client.connected).toBe(false);
  await reading.done;
});

test("the cause of NotConnectedError says why connecting automatically failed", async () => {
  const client = clientOf({ agent: "nobody" });
  const reading = new Reading(client.events());
  const first = await client.newSession({ directory: "/" }).catch((error: unknown) => error);
  expect(first).toBeInstanceOf(ProblemError);
  const second = await client.newSession({ directory: "/" }).catch((error: unknown) => error);
  expect(second).toBeInstanceOf(NotConnectedError);
  expect((second as Error).cause).toBe(first);
  await expect(reading.done).rejects.toBe(first);
  expect(client.connected).toBe(false);
});

test("typescript-7: an error response is a ProblemError", async () => {
  const client = clientOf({ autoConnect: false });
  const refusal = await client.sessions.get("nobody").catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ProblemError);
  expect(refusal).toMatchObject({ status: 404, type: "urn:problem:session-not-found" });
});
