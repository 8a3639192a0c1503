import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentFailedError, SandboxAgentClient, UnsupportedError } from "@tombolo/sandbox-agent";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { Reading, texts } from "./talking.js";

const script = join(import.meta.dirname, "agents/able.js");
const command = JSON.stringify([process.execPath, script]);
const daemon = daemonOf({ config: `[agents.able]\ncommand = ${command}\nprotocol = "acp"\n` });
const clientOf = (agent: string): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, agent });
const directory = "/";

test("typescript-3: a feature that the agent does not announce is an UnsupportedError", async () => {
  await using client = clientOf("mock");
  const { sessionId } = await client.newSession({ directory });
  for (const [feature, call] of [
    ["resumeSession", () => client.resumeSession(sessionId, { directory })],
    ["forkSession", () => client.forkSession(sessionId, { directory })],
    ["setSessionConfigOption", () => client.setSessionConfigOption(sessionId, "model", "large")],
  ] as const) {
    const failure = await call().catch((error: unknown) => error);
    expect(failure, feature).toBeInstanceOf(UnsupportedError);
    expect((failure as UnsupportedError).feature).toBe(feature);
  }
  await using able = clientOf("able");
  await expect(able.loadSession("old", { directory })).rejects.toBeInstanceOf(UnsupportedError);
  const session = await able.newSession({ directory });
  await expect(able.setSessionMode(session.sessionId, "plan")).rejects.toBeInstanceOf(UnsupportedError);
});

test("typescript-3: features that the agent announces work", async () => {
  await using client = clientOf("able");
  const reading = new Reading(client.events());
  const { sessionId } = await client.newSession({ directory });
  expect(await client.resumeSession("old", { directory })).toMatchObject({ sessionId: "old" });
  const fork = await client.forkSession("old", { directory, title: "A fork" });
  expect(fork).toMatchObject({ sessionId: "fork-of-old", title: "A fork", ended: false });
  await client.setSessionConfigOption(sessionId, "colour", "blue");
  await client.terminateSession(fork.sessionId);
  await client.prompt(sessionId, "what is closed?");
  expect(texts(reading.items)).toEqual(["colour is blue", "closed: fork-of-old"]);
});

test("typescript-3: the model is set in the way that the agent supports", async () => {
  await using able = clientOf("able");
  const reading = new Reading(able.events());
  const session = await able.newSession({ directory, model: "large", mode: "not offered" });
  expect(texts(reading.items)).toEqual(["model is large"]);
  expect(await able.listModels(session.sessionId)).toEqual([
    { id: "small", name: "Small" },
    { id: "large", name: "Large" },
  ]);
  await able.setSessionModel(session.sessionId, "small");
  expect(texts(reading.items)).toEqual(["model is large", "model is small"]);
  await using mock = clientOf("mock");
  const other = await mock.newSession({ directory });
  expect(await mock.listModels(other.sessionId)).toEqual([{ id: "mock", name: "No model" }]);
  await mock.setSessionModel(other.sessionId, "mock");
});

test("client and agent exchange their names and versions", async () => {
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, "../package.json"), "utf8"));
  await using client = new SandboxAgentClient({ baseUrl: daemon.url, agent: "able", autoConnect: false });
  expect(await client.connect()).toEqual({
    name: "able",
    title: "Able agent",
    // The agent repeats what the client sent.
    version,
    features: ["listSessions", "forkSession", "resumeSession", "closeSession"],
  });
});

test("sessions that the agent lists are listed too", async () => {
  await using client = clientOf("able");
  const { sessionId } = await client.newSession({ directory });
  const listed = await client.listSessions();
  expect(listed.map((session) => session.sessionId).sort()).toEqual([sessionId, "old"].sort());
  expect(listed.find((session) => session.sessionId === "old")).toMatchObject({
    agent: "able",
    directory: "/old",
    title: "An old one",
    eventCount: 0,
  });
});

test("typescript-7: an error of the agent is an AgentFailedError", async () => {
  await using client = clientOf("able");
  const { sessionId } = await client.newSession({ directory });
  const failure = await client
    .setSessionConfigOption(sessionId, "none", true)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(AgentFailedError);
  expect(failure).toMatchObject({
    code: -32602,
    message: "there is no such option",
    data: { configId: "none" },
  });
});
