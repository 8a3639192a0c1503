import { type EventRecord, GapError, ProblemError, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { chunks, Reading, said, turnEnded } from "./talking.js";

const daemon = daemonOf();
const clientOf = (options = {}): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, ...options });
const pieces = (records: readonly EventRecord[]): string[] =>
  records.flatMap(({ event }) => ("messageDelta" in event ? [event.messageDelta.text] : []));

test("typescript-6: a session can be created, prompted, followed and deleted", async () => {
  const client = clientOf();
  expect(await client.sessions.create("whole", { agent: "mock", title: "Whole" })).toMatchObject({
    healthy: true,
  });
  const { inputId, turnId } = await client.sessions.send("whole", "hello");
  const seen: EventRecord[] = [];
  for await (const event of client.sessions.events("whole")) {
    seen.push(event);
    if (turnEnded(event)) break;
  }
  expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1));
  expect(seen.at(-1)?.event).toMatchObject({ turnEnded: { turnId, reason: "completed" } });
  expect(await said(client, "whole")).toBe("hello");
  expect(await client.sessions.get("whole")).toMatchObject({ id: "whole", title: "Whole", agent: "mock" });
  expect((await client.sessions.list()).map(({ id }) => id)).toContain("whole");
  const since = new Date(Date.now() - 60_000);
  const found = await client.sessions.list({ since, agent: "mock" });
  expect(found.map(({ id }) => id)).toContain("whole");
  expect(await client.sessions.list({ agent: "claude" })).toEqual([]);
  expect(seen.map(({ event }) => "input" in event && event.input.inputId)).toContain(inputId);
  const page = await client.sessions.eventPage("whole", { after: 1, limit: 2 });
  expect(page).toMatchObject({ events: [{ seq: 2 }, { seq: 3 }], hasMore: true });
  const snapshot = await client.sessions.snapshot("whole");
  expect(snapshot.seq).toBe((await client.sessions.get("whole")).newestSeq);
  await client.sessions.delete("whole");
  await expect(client.sessions.get("whole")).rejects.toMatchObject({ status: 404 });
});

test("events continue after a sequence number, with the raw messages of the agent if requested", async () => {
  const client = clientOf();
  await client.sessions.create("after", { agent: "mock" });
  await client.sessions.send("after", "hello");
  const all = new Reading(client.sessions.events("after"));
  await all.until(turnEnded);
  const later = new Reading(client.sessions.events("after", { after: 3, includeRaw: true }));
  await later.until(turnEnded);
  expect(later.items[0]?.seq).toBe(4);
  expect(later.items.some(({ raw }) => raw !== undefined)).toBe(true);
  expect(all.items.every(({ raw }) => raw === undefined)).toBe(true);
});

test("the stream of events ends when the session is deleted, and fails if it never existed", async () => {
  const client = clientOf();
  await client.sessions.create("deleted", { agent: "mock" });
  const reading = new Reading(client.sessions.events("deleted"));
  await until(() => reading.items.length > 0);
  await client.sessions.delete("deleted");
  await reading.done;
  const none = new Reading(client.sessions.events("deleted"));
  await expect(none.done).rejects.toBeInstanceOf(ProblemError);
});

test("typescript-8: each event comes once, whenever the connection is cut", async () => {
  await using network = await Network.start(daemon.port);
  const client = clientOf({ baseUrl: network.url });
  await client.sessions.create("cut", { agent: "mock" });
  const reading = new Reading(client.sessions.events("cut"));
  await client.sessions.send("cut", "/drip 100 5");
  for (let cut = 1; cut <= 4; cut += 1) {
    await until(() => pieces(reading.items).length >= cut * 15);
    network.cut();
  }
  await reading.until(turnEnded);
  expect(network.cuts).toBeGreaterThanOrEqual(4);
  expect(reading.items.map(({ seq }) => seq)).toEqual(reading.items.map((_, at) => at + 1));
  expect(pieces(reading.items).join("")).toBe(chunks(100).join(""));
});

test("typescript-8: reading fails after giveUpAfterMs", async () => {
  await using network = await Network.start(daemon.port);
  const reconnect = { giveUpAfterMs: 100, maxDelayMs: 20 };
  const client = clientOf({ baseUrl: network.url, reconnect });
  await client.sessions.create("away", { agent: "mock" });
  const reading = new Reading(client.sessions.events("away"));
  await until(() => reading.items.length > 0);
  network.refuse(true);
  network.cut();
  await expect(reading.done).rejects.toMatchObject({ name: "ConnectionError" });
});

test("typescript-8: giveUpAfterMs counts from the loss of the connection, however quiet it was before", async () => {
  await using network = await Network.start(daemon.port);
  const client = clientOf({ baseUrl: network.url, reconnect: { giveUpAfterMs: 200, maxDelayMs: 20 } });
  await client.sessions.create("quiet", { agent: "mock" });
  const reading = new Reading(client.sessions.events("quiet"));
  await until(() => reading.items.length > 0);
  const since = performance.now();
  await until(() => performance.now() - since > 400);
  network.cut();
  await client.sessions.send("quiet", "hello");
  await reading.until(turnEnded);
});

test("typescript-8: an aborted reader or request throws the reason of its signal", async () => {
  const client = clientOf();
  await client.sessions.create("aborted", { agent: "mock" });
  const stop = new AbortController();
  const reading = new Reading(client.sessions.events("aborted", { signal: stop.signal }));
  await until(() => reading.items.length > 0);
  stop.abort(new Error("enough"));
  await expect(reading.done).rejects.toThrow("enough");
  await expect(client.sessions.list({ signal: stop.signal })).rejects.toThrow("enough");
  const ended = clientOf({ signal: stop.signal });
  await expect(ended.sessions.list()).rejects.toThrow("enough");
});

test("typescript-8: evicted events are a GapError", async () => {
  // A daemon keeps session events for too long for a test, so a scripted server sends the gap.
  const body = 'event: gap\ndata: {"oldest":5,"newest":9}\n\n';
  const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const reading = new Reading(clientOf({ fetch }).sessions.events("gap", { after: 2 }));
  const failure = await reading.done.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(GapError);
  expect(failure).toMatchObject({ oldest: 5, newest: 9 });
});

test("a message whose answer was lost reaches the agent once", async () => {
  await using network = await Network.start(daemon.port);
  let lost = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (!String(input).endsWith("/messages") || lost > 0) return response;
    lost += 1;
    throw new TypeError("the answer was lost");
  };
  const client = clientOf({ baseUrl: network.url, fetch });
  await client.sessions.create("once", { agent: "mock" });
  await client.sessions.send("once", "hello");
  const reading = new Reading(client.sessions.events("once"));
  await reading.until(turnEnded);
  expect(lost).toBe(1);
  const { items } = await client.sessions.messages("once");
  expect(items.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test("queued messages can be edited and withdrawn", async () => {
  const client = clientOf();
  await client.sessions.create("queue", { agent: "mock" });
  const reading = new Reading(client.sessions.events("queue"));
  await client.sessions.send("queue", "begun\n/hang");
  await reading.until(({ event }) => "messageDelta" in event || "message" in event);
  const changed = await client.sessions.send("queue", "before");
  const withdrawn = await client.sessions.send("queue", { message: "never", whenBusy: "queue" });
  expect((await client.sessions.inputs("queue")).map(({ id }) => id)).toEqual(
    expect.arrayContaining([changed.inputId, withdrawn.inputId]),
  );
  await client.sessions.editInput("queue", changed.inputId, { message: "after" });
  await client.sessions.withdrawInput("queue", withdrawn.inputId);
  await client.sessions.cancel("queue");
  await until(() => reading.items.filter(turnEnded).length === 2);
  expect(await said(client, "queue")).toBe("begunafter");
});

test("permission requests and questions can be answered and rejected", async () => {
  const client = clientOf();
  await client.sessions.create("asks", { agent: "mock" });
  const reading = new Reading(client.sessions.events("asks"));
  await client.sessions.send("asks", "/permission");
  const permission = await reading.until(({ event }) => "permissionAsked" in event);
  if (!("permissionAsked" in permission.event)) throw new Error("it asks for no permission");
  const { id } = permission.event.permissionAsked;
  await client.sessions.answerPermission("asks", id, "once", { author: "ana" });
  const resolved = await reading.until(({ event }) => "permissionResolved" in event);
  expect(resolved.event).toMatchObject({ permissionResolved: { id, author: "ana" } });
  await until(() => reading.items.filter(turnEnded).length === 1);

  for (const [at, answer] of [
    (questionId: string) =>
      client.sessions.answerQuestion("asks", questionId, [["Red"], ["Door"]], { author: "ana" }),
    (questionId: string) => client.sessions.rejectQuestion("asks", questionId),
  ].entries()) {
    await client.sessions.send("asks", "/question");
    await until(() => reading.items.filter(({ event }) => "questionAsked" in event).length === at + 1);
    const asked = reading.items.findLast(({ event }) => "questionAsked" in event);
    if (asked === undefined || !("questionAsked" in asked.event)) throw new Error("it asks no question");
    await answer(asked.event.questionAsked.id);
    await until(() => reading.items.filter(turnEnded).length === at + 2);
  }
  const outcomes = reading.items.flatMap(({ event }) =>
    "questionResolved" in event ? [event.questionResolved.outcome] : [],
  );
  expect(outcomes).toEqual([{ answered: [["Red"], ["Door"]] }, "rejected"]);
});
