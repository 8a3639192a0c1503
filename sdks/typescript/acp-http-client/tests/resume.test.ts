import { AcpHttpClient, ConnectionError } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { chunks, converse, grows, Reading } from "./conversing.js";
import { instanceOf } from "./daemon.js";
import { routing } from "./routing.js";

const daemon = daemonOf();

test("typescript-8: lost connections lose and duplicate nothing, and a prompt resolves after its last update", async () => {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "cuts", agent: "mock" });
  const reading = new Reading(client);
  const session = await converse(client);
  let taken = reading.texts.length;
  for (let turn = 0; turn < 20; turn += 1) {
    const cuts = [0, Math.random() * 20].map((ms) => setTimeout(() => network.cutAny(), ms));
    expect(await session.prompt("/chunks 500")).toEqual({ stopReason: "end_turn" });
    expect(reading.texts.slice(taken)).toEqual(chunks(500));
    taken = reading.texts.length;
    cuts.forEach(clearTimeout);
  }
  expect(network.cuts).toBeGreaterThan(5);
  expect(grows(reading.ids)).toBe(true);
  expect(reading.of("gap")).toEqual([]);
});

test("a message whose answer was lost reaches the agent once", async () => {
  await using network = await Network.start(daemon.port);
  const options = { baseUrl: daemon.url, serverId: "once", agent: "mock" };
  await using client = new AcpHttpClient({ ...options, fetch: routing("POST", network.url) });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("said once\n/drip 5 50");
  await reading.read("said once");
  network.cut();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(reading.texts).toEqual(["said once", ...chunks(5)]);
});

test("a request whose answer was lost resolves without a reader too", async () => {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "unread", agent: "mock" });
  const session = await converse(client);
  const prompt = session.prompt("/drip 10 20");
  await until(async () => (await instanceOf(daemon.url, "unread"))?.pendingRequests === 1);
  network.cut();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  // No request is open any more, so there is no stream.
  await until(async () => (await instanceOf(daemon.url, "unread"))?.subscribers === 0);
});

test("without idempotency keys, a message whose answer was lost fails and is not sent again", async () => {
  await using network = await Network.start(daemon.port);
  const options = { baseUrl: network.url, serverId: "keyless", agent: "mock", idempotency: false };
  await using client = new AcpHttpClient(options);
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("said once\n/hang");
  await reading.read("said once");
  network.cut();
  await expect(prompt).rejects.toBeInstanceOf(ConnectionError);
  expect(reading.texts).toEqual(["said once"]);
});

test("a connection without data for too long is replaced", async () => {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({
    baseUrl: daemon.url,
    serverId: "silent",
    agent: "mock",
    fetch: routing("GET", network.url),
    reconnect: { idleTimeoutMs: 300 },
  });
  const reading = new Reading(client);
  const session = await converse(client);
  await until(() => network.open === 1);
  const { connections } = network;
  network.freeze();
  expect(await session.prompt("/chunks 10")).toEqual({ stopReason: "end_turn" });
  expect(reading.texts).toEqual(chunks(10));
  expect(network.connections).toBeGreaterThan(connections);
});

test("the client waits for a server that is down for a while", async () => {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "away", agent: "mock" });
  const reading = new Reading(client);
  const session = await converse(client);
  network.refuse(true);
  network.cut();
  const prompt = session.prompt("/chunks 10");
  const { connections } = network;
  await until(() => network.connections > connections + 4);
  network.refuse(false);
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(reading.texts).toEqual(chunks(10));
});

test("open requests fail after giveUpAfterMs, and later requests are tried again", async () => {
  await using network = await Network.start(daemon.port);
  const reconnect = { giveUpAfterMs: 200, maxDelayMs: 50 };
  await using client = new AcpHttpClient({
    baseUrl: network.url,
    serverId: "lost",
    agent: "mock",
    reconnect,
  });
  const reading = new Reading(client);
  const session = await converse(client);
  network.refuse(true);
  network.cut();
  await expect(session.prompt("hello")).rejects.toBeInstanceOf(ConnectionError);
  await expect(reading.done).rejects.toBeInstanceOf(ConnectionError);
  network.refuse(false);
  const later = new Reading(client);
  await session.prompt("are you there");
  expect(later.texts).toEqual(["are you there"]);
});

test("a client continues where another one stopped", async () => {
  const options = { baseUrl: daemon.url, serverId: "handover", agent: "mock" };
  let last = 0;
  {
    await using client = new AcpHttpClient(options);
    const reading = new Reading(client);
    const session = await converse(client);
    await session.prompt("/chunks 10");
    last = reading.ids[5] ?? 0;
  }
  await using client = new AcpHttpClient({ ...options, agent: undefined, after: last });
  const reading = new Reading(client);
  await reading.read("chunk 10 ");
  expect(reading.texts).toEqual(chunks(10).slice(4));
});
