import { AcpHttpClient, ExitedError, GoneError, ProblemError } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, Reading } from "./conversing.js";
import { instanceOf } from "./daemon.js";

const daemon = daemonOf();
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

test("invalid lines of the agent are unparsed events", async () => {
  await using client = clientOf("garbage");
  const reading = new Reading(client);
  const session = await converse(client);
  await session.prompt("before\n/garbage\nafter");
  expect(reading.events.slice(2, -1).map(({ type }) => type)).toEqual([
    "message",
    ...Array.from({ length: 5 }, () => "unparsed"),
    "message",
  ]);
  expect(reading.of("unparsed")[0]).toEqual({
    type: "unparsed",
    text: "this is not JSON",
    bytes: 16,
    truncated: false,
  });
});

test("events without an id are delivered once too, whenever the connection is cut", async () => {
  await using network = await Network.start(daemon.port);
  await using client = clientOf("garbage-cut", { baseUrl: network.url });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("/garbage\n/hang");
  await reading.heard("unparsed", 5);
  for (let cut = 0; cut < 3; cut += 1) {
    const { connections } = network;
    network.cut();
    // The request and the stream are connected again.
    await until(() => network.connections >= connections + 1 && network.open >= 1);
  }
  await client.notify("session/cancel", { sessionId: session.sessionId });
  expect(await prompt).toEqual({ stopReason: "cancelled" });
  expect(reading.of("unparsed").length).toBe(5);
});

test("the exit of the agent is an event, fails its requests, and `initialize` restarts it", async () => {
  await using client = clientOf("crash");
  const reading = new Reading(client);
  const session = await converse(client);
  const failure = await session.prompt("last words\n/crash 3").catch((error) => error);
  expect(failure).toBeInstanceOf(ProblemError);
  expect(failure).toMatchObject({ status: 502, type: "urn:problem:agent-exited" });
  expect(failure.problem.stderrTail).toContain("crashing with code 3");
  await reading.heard("exited");
  expect(reading.of("exited")[0]).toMatchObject({ code: 3, signal: null });
  // Only `initialize` restarts it.
  await expect(session.prompt("anybody there")).rejects.toMatchObject({ status: 502 });
  const again = await converse(client);
  await again.prompt("hello again");
  expect(reading.texts).toEqual(["last words", "hello again"]);
  expect(reading.of("exited").length).toBe(1);
});

test("the exit of the agent fails requests that only the stream could answer", async () => {
  for (const read of [true, false]) {
    await using client = clientOf(`crash-async-${read}`, { respondAsync: true });
    if (read) new Reading(client);
    const session = await converse(client);
    const failure = await session.prompt("/crash 3").catch((error) => error);
    expect(failure).toBeInstanceOf(ExitedError);
    expect(failure.exit).toMatchObject({ code: 3 });
    const again = await converse(client);
    expect(await again.prompt("hello")).toEqual({ stopReason: "end_turn" });
  }
});

test("the exit of the agent is reported if the answer to the request was lost", async () => {
  await using network = await Network.start(daemon.port);
  await using client = clientOf("crash-cut", { baseUrl: network.url });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("going\n/drip 10 30\n/crash 4").catch((error) => error);
  await reading.read("going");
  network.cut();
  expect(await prompt).toBeInstanceOf(ExitedError);
  expect(reading.of("exited").length).toBe(1);
});

test("a deleted instance is gone, and can be created again", async () => {
  await using client = clientOf("deleted");
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("/hang", { respondAsync: true }).catch((error) => error);
  await until(async () => (await instanceOf(daemon.url, "deleted"))?.pendingRequests === 1);
  await clientOf("deleted").close({ delete: true });
  // The error depends on how soon the request is repeated.
  expect([ExitedError, GoneError]).toContain((await prompt).constructor);
  await reading.heard("exited");
  await expect(session.prompt("hello")).rejects.toMatchObject({
    status: 400,
    type: "urn:problem:agent-required",
  });
  const again = await converse(client);
  await again.prompt("hello again");
  expect(reading.texts).toEqual(["hello again"]);
});
