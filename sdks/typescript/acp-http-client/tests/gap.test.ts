import { AcpHttpClient, GapError } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, grows, Reading } from "./conversing.js";
import { instanceOf } from "./daemon.js";
import { routing } from "./routing.js";

const KEPT = 16;
const daemon = daemonOf({ args: ["--events-max", String(KEPT)] });
/** Keeps the network down for long enough that the server evicts events. */
const reconnect = { initialDelayMs: 10, maxDelayMs: 50 };

test("evicted events are a gap, and the stream continues with the oldest event", async () => {
  await using network = await Network.start(daemon.port);
  const options = { serverId: "gap", agent: "mock", reconnect };
  await using client = new AcpHttpClient({ ...options, baseUrl: network.url });
  const reading = new Reading(client);
  const session = await converse(client);
  network.refuse(true);
  network.cut();
  await using other = new AcpHttpClient({ ...options, baseUrl: daemon.url });
  const { sessionId } = session;
  await other.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "/chunks 100" }] });
  network.refuse(false);
  await reading.read("chunk 100 ");
  const [gap] = reading.of("gap");
  expect(gap).toMatchObject({ type: "gap", oldest: 103 - KEPT + 1, newest: 103 });
  expect(reading.ids).toEqual([1, 2, ...Array.from({ length: KEPT }, (_, at) => 103 - KEPT + 1 + at)]);
});

test("a request whose response is known resolves after a gap that contains the response", async () => {
  await using network = await Network.start(daemon.port);
  const options = { baseUrl: daemon.url, serverId: "known", agent: "mock", reconnect };
  await using client = new AcpHttpClient({ ...options, fetch: routing("GET", network.url) });
  const reading = new Reading(client);
  const session = await converse(client);
  network.refuse(true);
  network.cut();
  let ended = false;
  const prompt = session.prompt("/chunks 5").finally(() => {
    ended = true;
  });
  // The HTTP answer has the response, but its event is evicted when the next turn has ended.
  await using other = new AcpHttpClient(options);
  const { sessionId } = session;
  const more = { sessionId, prompt: [{ type: "text", text: "/chunks 100" }] };
  await until(() =>
    other.request("session/prompt", more).then(
      () => true,
      () => false,
    ),
  );
  expect(ended).toBe(false);
  network.refuse(false);
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(reading.of("gap").length).toBe(1);
});

test("a request that only the stream could answer fails with GapError", async () => {
  await using network = await Network.start(daemon.port);
  const options = { baseUrl: daemon.url, serverId: "unknown", agent: "mock", reconnect };
  await using client = new AcpHttpClient({ ...options, fetch: routing("GET", network.url) });
  const reading = new Reading(client);
  const session = await converse(client);
  network.refuse(true);
  network.cut();
  const prompt = session.prompt("/chunks 100", { respondAsync: true });
  const failed = prompt.catch((error) => error);
  await until(async () => (await instanceOf(daemon.url, "unknown"))?.events.newest === 103);
  network.refuse(false);
  expect(await failed).toBeInstanceOf(GapError);
  expect((await failed).gap).toMatchObject({ type: "gap", newest: 103 });
  // The agent still answers.
  await session.prompt("and now");
  expect(reading.texts).toContain("and now");
  expect(grows(reading.ids)).toBe(true);
});

test("a late reader gets a gap, unless it starts at the newest event", async () => {
  const options = { baseUrl: daemon.url, serverId: "late", agent: "mock" };
  await using first = new AcpHttpClient(options);
  const session = await converse(first);
  await session.prompt("/chunks 100");
  await using late = new AcpHttpClient(options);
  const all = new Reading(late);
  await all.read("chunk 100 ");
  expect(all.events[0]).toMatchObject({ type: "gap", newest: 103 });
  await using newest = new AcpHttpClient({ ...options, after: "newest" });
  const reading = new Reading(newest);
  const { sessionId } = session;
  await newest.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "news" }] });
  expect(reading.texts).toEqual(["news"]);
  expect(reading.of("gap")).toEqual([]);
});
