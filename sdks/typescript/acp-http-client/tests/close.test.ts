import { AcpHttpClient, ClosedError } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, Reading } from "./conversing.js";
import { instanceOf } from "./daemon.js";
import { routing } from "./routing.js";

const CONFIG = `
[agents.stubborn]
command = ["bash", "-c", "trap '' TERM; while true; do sleep 0.1; done"]
`;
const daemon = daemonOf({ config: CONFIG });
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

/** Measures the duration of a promise. */
async function timed(work: Promise<unknown>): Promise<number> {
  const since = performance.now();
  await work;
  return performance.now() - since;
}

test("closing ends all local work within a second and leaves the agent running", async () => {
  const client = clientOf("running");
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("/drip 20 20").catch((error) => error);
  await reading.read("chunk 1 ");
  expect(await timed(client.close())).toBeLessThan(1000);
  await reading.done;
  expect(await prompt).toBeInstanceOf(ClosedError);
  for (const late of [session.prompt("hello"), client.notify("hello"), client.respond(1, { result: null })]) {
    await expect(late).rejects.toBeInstanceOf(ClosedError);
  }
  expect(await client.events().next()).toEqual({ done: true, value: undefined });
  expect(client.closed).toBe(true);
  await until(async () => (await instanceOf(daemon.url, "running"))?.subscribers === 0);
  // The agent is still running.
  await until(async () => (await instanceOf(daemon.url, "running"))?.events.newest === 2 + 20 + 1);
});

test("closing takes less than a second if the server is unreachable or does not answer", async () => {
  await using network = await Network.start(daemon.port);
  for (const kind of ["refused", "frozen"]) {
    const client = clientOf(`unreachable-${kind}`, { baseUrl: network.url });
    const reading = new Reading(client);
    const session = await converse(client);
    const prompt = session.prompt("/hang").catch((error) => error);
    await until(async () => {
      return (await instanceOf(daemon.url, `unreachable-${kind}`))?.pendingRequests === 1;
    });
    network.refuse(kind === "refused");
    if (kind === "refused") network.cut();
    else network.freeze();
    expect(await timed(client.close())).toBeLessThan(1000);
    await reading.done;
    expect(await prompt).toBeInstanceOf(ClosedError);
    network.refuse(false);
  }
});

test("deleting takes less than a second even if the agent ignores signals", async () => {
  const client = clientOf("stubborn", { agent: "stubborn" });
  await client.notify("hello");
  expect(await timed(client.close({ delete: true }))).toBeLessThan(1000);
  expect(await instanceOf(daemon.url, "stubborn")).toBeUndefined();
});

test("deleting times out, and the server still completes it", async () => {
  const client = clientOf("patient", { agent: "stubborn" });
  await client.notify("hello");
  const took = await timed(
    expect(client.close({ delete: true, timeoutMs: 300, graceMs: 1500 })).rejects.toThrow("300 ms"),
  );
  expect(took).toBeLessThan(1000);
  await until(async () => (await instanceOf(daemon.url, "patient")) === undefined);
});

test("aborting the signal of the options closes the client", async () => {
  const abort = new AbortController();
  const client = clientOf("signalled", { signal: abort.signal });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("/hang").catch((error) => error);
  abort.abort();
  expect(await prompt).toBeInstanceOf(ClosedError);
  await reading.done;
  const never = clientOf("signalled", { signal: AbortSignal.abort() });
  expect(never.closed).toBe(true);
});

test("aborting a signal ends one request, message or reader, and nothing else", async () => {
  await using client = clientOf("aborted");
  const abort = new AbortController();
  const reason = new Error("enough");
  const reading = new Reading(client, { signal: abort.signal });
  const session = await converse(client);
  const prompt = session.prompt("working\n/hang", { signal: abort.signal }).catch((error) => error);
  await reading.read("working");
  abort.abort(reason);
  expect(await prompt).toBe(reason);
  await expect(reading.done).rejects.toBe(reason);
  await expect(client.notify("hello", {}, { signal: abort.signal })).rejects.toBe(reason);
  await expect(client.request("hello", {}, { signal: abort.signal })).rejects.toBe(reason);
  await expect(client.events({ signal: abort.signal }).next()).rejects.toBe(reason);
  // None of it reached the agent.
  const again = new Reading(client);
  await client.notify("session/cancel", { sessionId: session.sessionId });
  await until(() => again.messages.some((message) => "result" in message));
  await session.prompt("fine");
  expect(again.texts).toEqual(["fine"]);
});

test("requests that wait for a reader resolve when the reader leaves", async () => {
  for (const respondAsync of [false, true]) {
    const id = `leaver-${respondAsync}`;
    await using client = clientOf(id, { respondAsync });
    const session = await converse(client);
    const events = client.events();
    // The reader takes none of the events that follow.
    await events.next();
    let ended = false;
    const prompt = session.prompt("/chunks 10").finally(() => {
      ended = true;
    });
    await until(async () => (await instanceOf(daemon.url, id))?.events.newest === 13);
    await client.notify("hello");
    expect(ended).toBe(false);
    await events.return?.();
    expect(await prompt).toEqual({ stopReason: "end_turn" });
  }
});

test("a request resolves when the reader leaves before it has reached the response", async () => {
  await using network = await Network.start(daemon.port);
  const reach = routing("GET", network.url);
  let answers = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await reach(input, init);
    if (init?.method !== "POST") return response;
    const whole = new Response(await response.text(), response);
    answers += 1;
    return whole;
  };
  await using client = clientOf("behind", { fetch: counting });
  const session = await converse(client);
  const events = client.events();
  await events.next();
  network.refuse(true);
  network.cut();
  const prompt = session.prompt("/chunks 10");
  let ended = false;
  void prompt.then(() => {
    ended = true;
  });
  await until(() => answers === 3);
  await client.notify("hello");
  expect(ended).toBe(false);
  await events.return?.();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
});

test("a response on the stream resolves a request whose HTTP answer is missing", async () => {
  await using network = await Network.start(daemon.port);
  const client = clientOf("unanswered", { fetch: routing("POST", network.url) });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("/drip 5 50");
  await reading.read("chunk 1 ");
  network.freeze();
  expect(await prompt).toEqual({ stopReason: "end_turn" });
  expect(network.open).toBeGreaterThan(0);
  await client.close();
  await until(() => network.open === 0);
});
