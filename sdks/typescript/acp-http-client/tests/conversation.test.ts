import { AcpHttpClient, RpcError } from "@tombolo/acp-http-client";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { chunks, converse, grows, Reading } from "./conversing.js";

const daemon = daemonOf();
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

test("a request resolves after the reader has taken every event before its response", async () => {
  await using client = clientOf("order");
  const reading = new Reading(client);
  const session = await converse(client);
  for (let turn = 1; turn <= 5; turn += 1) {
    expect(await session.prompt("/chunks 1000")).toEqual({ stopReason: "end_turn" });
    expect(reading.texts.length).toBe(turn * 1000);
  }
  expect(reading.texts.slice(0, 1000)).toEqual(chunks(1000));
  expect(grows(reading.ids)).toBe(true);
});

test("a slow reader delays the requests whose updates it has not taken", async () => {
  await using client = clientOf("slow-order");
  let taken = 0;
  const reading = (async () => {
    for await (const _ of client.events()) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      taken += 1;
    }
  })();
  const session = await converse(client);
  const before = taken;
  await session.prompt("/chunks 50");
  expect(taken - before).toBeGreaterThanOrEqual(50);
  await client.close();
  await reading;
});

test("without a reader a request resolves with the HTTP answer, and no stream is opened", async () => {
  const asked: string[] = [];
  await using client = clientOf("no-reader", {
    fetch: (input: string, init: RequestInit) => {
      asked.push(init.method ?? "GET");
      return fetch(input, init);
    },
  });
  const session = await converse(client);
  expect(await session.prompt("/updates 5000 10")).toEqual({ stopReason: "end_turn" });
  expect(asked).toEqual(["POST", "POST", "POST"]);
});

test("a request with respondAsync resolves with and without a reader", async () => {
  await using client = clientOf("async", { respondAsync: true });
  const session = await converse(client);
  expect(await session.prompt("/updates 5000 10")).toEqual({ stopReason: "end_turn" });
  const reading = new Reading(client);
  expect(await session.prompt("/chunks 200")).toEqual({ stopReason: "end_turn" });
  expect(reading.texts.slice(-200)).toEqual(chunks(200));
  // Events without a reader are kept up to the limit, and a gap reports the rest.
  expect(reading.events[0]).toMatchObject({ type: "gap" });
  expect(grows(reading.ids)).toBe(true);
});

test("respondAsync can be set for one request", async () => {
  const preferred: (string | null)[] = [];
  await using client = clientOf("mixed", {
    fetch: (input: string, init: RequestInit) => {
      if (init.method === "POST") preferred.push(new Headers(init.headers).get("prefer"));
      return fetch(input, init);
    },
  });
  const session = await converse(client);
  await session.prompt("hello", { respondAsync: true });
  await session.prompt("hello");
  expect(preferred).toEqual([null, null, "respond-async", null]);
});

test("an error of the agent is an RpcError with its code", async () => {
  await using client = clientOf("failing");
  const session = await converse(client);
  const failure = await session.prompt("/fail -32000 Invalid API key").catch((error) => error);
  expect(failure).toBeInstanceOf(RpcError);
  expect(failure).toMatchObject({ code: -32000, message: "Invalid API key" });
  await expect(client.request("no/such/method")).rejects.toMatchObject({ code: -32601 });
});

test("a request of the agent can be answered while a request of the client is open", async () => {
  await using client = clientOf("permission");
  const reading = (async () => {
    for await (const event of client.events()) {
      if (event.type !== "message" || !("method" in event.message) || !("id" in event.message)) continue;
      expect(event.message.method).toBe("session/request_permission");
      const outcome = { outcome: { outcome: "selected", optionId: "reject" } };
      await client.respond(event.message.id, { result: outcome });
    }
  })();
  const session = await converse(client);
  expect(await session.prompt("/permission")).toEqual({ stopReason: "end_turn" });
  await client.close();
  await reading;
});

test("a notification cancels a prompt", async () => {
  await using client = clientOf("cancel");
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("before\n/hang");
  await reading.read("before");
  await client.notify("session/cancel", { sessionId: session.sessionId });
  expect(await prompt).toEqual({ stopReason: "cancelled" });
});

test("messages with respondAsync arrive in the order in which they were sent", async () => {
  await using client = clientOf("sequence", { respondAsync: true });
  const reading = new Reading(client);
  const session = await converse(client);
  const hanging = session.prompt("/hang");
  const steers = Array.from({ length: 50 }, (_, at) => {
    const prompt = [{ type: "text", text: `steer ${at}\n/hang` }];
    return client.request("_session/steering", { sessionId: session.sessionId, prompt });
  });
  await Promise.all(steers);
  await client.notify("session/cancel", { sessionId: session.sessionId });
  expect(await hanging).toEqual({ stopReason: "cancelled" });
  expect(reading.texts).toEqual(steers.map((_, at) => `steer ${at}`));
});

test("a client has one reader at a time, and accepts another afterwards", async () => {
  await using client = clientOf("readers");
  const first = new Reading(client);
  const session = await converse(client);
  const second = client.events();
  await expect(second.next()).rejects.toThrow("another reader already");
  await session.prompt("one");
  expect(first.texts).toEqual(["one"]);
  await using other = clientOf("readers", { after: 2 });
  for (let times = 0; times < 2; times += 1) {
    for await (const event of other.events()) {
      expect(event).toMatchObject({ type: "message", eventId: 3 + times });
      break;
    }
  }
});
