import { HubClient, ObservationError, type ObservationFrame, ProblemError } from "@tombolo/sandbox-agent";
import { Daemon, Hub, Network, until } from "tombolo-testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Reading, texts } from "./talking.js";

let daemon: Daemon;
let hub: Hub;
const token = "a-token-of-the-daemon";
beforeAll(async () => {
  [daemon, hub] = await Promise.all([Daemon.start({ token }), Hub.start()]);
  await clientOf().runtimes.add({ id: "box", endpoint: daemon.url, token });
});
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  await daemon?.[Symbol.asyncDispose]();
});
const clientOf = (options = {}): HubClient =>
  new HubClient({ baseUrl: hub.url, token: hub.token, ...options });

function pieces(frames: readonly ObservationFrame[]): string {
  return frames
    .map((frame) => {
      if (frame.kind !== "event" || !("messageDelta" in frame.envelope.payload)) return "";
      return frame.envelope.payload.messageDelta.text;
    })
    .join("");
}

function turnsEnded(frames: readonly ObservationFrame[]): number {
  return frames.filter((frame) => frame.kind === "event" && "turnEnded" in frame.envelope.payload).length;
}

test("runtimes can be listed, added and removed", async () => {
  const client = clientOf();
  await until(async () => (await client.runtimes.get("box")).isReachable === true);
  await client.runtimes.add({ id: "other", endpoint: "http://127.0.0.1:9" });
  expect((await client.runtimes.list()).map(({ id }) => id)).toEqual(["box", "other"]);
  expect(await client.runtimes.invite({ id: "far" })).toMatchObject({ id: "far", token: expect.any(String) });
  await client.runtimes.remove("other");
  await expect(client.runtimes.get("other")).rejects.toMatchObject({ status: 404 });
  expect(await client.whoAmI()).toMatchObject({ user: { isAdmin: true } });
});

test("a sandbox is driven through the hub, which records the user", async () => {
  const client = clientOf();
  const sandbox = client.sandbox("box");
  expect(sandbox.connected).toBe(false);
  await sandbox.sessions.create("driven", { agent: "mock" });
  const reading = new Reading(sandbox.sessions.events("driven"));
  await sandbox.sessions.send("driven", "hello");
  await reading.until(({ event }) => "turnEnded" in event);
  expect((await client.runtimes.workers("box")).map(({ id }) => id)).toContain("driven");
  const { items } = await sandbox.sessions.messages("driven");
  const { user } = await client.whoAmI();
  expect(items[0]).toMatchObject({ role: "user", author: user.name });
  const verbs = (await client.audit()).map(({ entry }) => entry.worker);
  expect(verbs).toContain("driven");
});

test("a client connects to an agent through the hub", async () => {
  await using sandbox = clientOf().sandbox("box", { agent: "mock" });
  const reading = new Reading(sandbox.events());
  const { sessionId } = await sandbox.newSession({ directory: "/" });
  expect(await sandbox.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  expect(texts(reading.items)).toEqual(["hello"]);
});

test("watching a session yields a snapshot, events and presence", async () => {
  const client = clientOf();
  const sandbox = client.sandbox("box");
  await sandbox.sessions.create("watched", { agent: "mock" });
  const stop = new AbortController();
  const reading = new Reading(client.runtimes.observe("box", "watched", { signal: stop.signal }));
  const first = await reading.until(({ kind }) => kind === "event");
  expect(first).toMatchObject({
    envelope: { worker_id: "watched", runtime_id: "box", payload: { snapshot: {} } },
  });
  await sandbox.sessions.send("watched", "/chunks 3");
  await until(() => turnsEnded(reading.items) === 1);
  expect(pieces(reading.items)).toBe("chunk 1 chunk 2 chunk 3 ");
  const { user } = await client.whoAmI();
  const { watchers } = await client.runtimes.presence("box", "watched");
  const { session, actions } = await client.runtimes.worker("box", "watched");
  expect(session.id).toBe("watched");
  const send = actions.find(({ action, method }) => action === "sessions.send" && method === "POST");
  expect(send).toMatchObject({ allowed: true });
  expect(watchers.map((watcher) => watcher.user)).toEqual([user.name]);
  stop.abort(new Error("enough"));
  await expect(reading.done).rejects.toThrow("enough");
});

test("typescript-8: a watched session continues after a lost connection, each event once", async () => {
  await using network = await Network.start(hub.port);
  const near = clientOf();
  const client = clientOf({ baseUrl: network.url });
  const sandbox = near.sandbox("box");
  await sandbox.sessions.create("cut", { agent: "mock" });
  const stop = new AbortController();
  const reading = new Reading(client.runtimes.observe("box", "cut", { signal: stop.signal }));
  await reading.until(({ kind }) => kind === "event");
  await sandbox.sessions.send("cut", "/drip 100 5");
  for (let cut = 1; cut <= 3; cut += 1) {
    await until(() => pieces(reading.items).includes(`chunk ${cut * 20} `));
    network.cut();
  }
  await until(() => turnsEnded(reading.items) === 1);
  const expected = Array.from({ length: 100 }, (_, at) => `chunk ${at + 1} `).join("");
  expect(pieces(reading.items)).toBe(expected);
  const snapshots = reading.items.filter(
    (frame) => frame.kind === "event" && "snapshot" in frame.envelope.payload,
  );
  expect(snapshots.length).toBeGreaterThanOrEqual(3);
  stop.abort();
});

test("typescript-8: a connection without data is replaced", async () => {
  await using network = await Network.start(hub.port);
  const client = clientOf({ baseUrl: network.url, reconnect: { idleTimeoutMs: 500 } });
  const { sessions } = clientOf().sandbox("box");
  await sessions.create("frozen", { agent: "mock" });
  const stop = new AbortController();
  const reading = new Reading(client.runtimes.observe("box", "frozen", { signal: stop.signal }));
  await reading.until(({ kind }) => kind === "event");
  network.freeze();
  await sessions.send("frozen", "hello");
  await until(() => turnsEnded(reading.items) === 1);
  stop.abort();
});

test("watching continues from a cursor, and reports one that is no longer valid", async () => {
  const client = clientOf();
  const sandbox = client.sandbox("box");
  await sandbox.sessions.create("cursor", { agent: "mock" });
  const stop = new AbortController();
  const first = new Reading(client.runtimes.observe("box", "cursor", { signal: stop.signal }));
  await first.until(({ kind }) => kind === "event");
  await sandbox.sessions.send("cursor", "one");
  await until(() => turnsEnded(first.items) === 1);
  const last = first.items.findLast((frame) => frame.kind === "event");
  const cursor = last?.kind === "event" ? last.envelope.cursor : "";
  await sandbox.sessions.send("cursor", "two");
  await until(() => turnsEnded(first.items) === 2);
  const second = new Reading(client.runtimes.observe("box", "cursor", { cursor, signal: stop.signal }));
  await until(() => turnsEnded(second.items) === 1);
  expect(second.items).toContainEqual({ kind: "control", control: { type: "resumed", resume: "ok" } });
  const wrong = new Reading(
    client.runtimes.observe("box", "cursor", { cursor: "nonsense", signal: stop.signal }),
  );
  await wrong.until((frame) => frame.kind === "event" && "snapshot" in frame.envelope.payload);
  const told = wrong.items.flatMap((frame) => (frame.kind === "diagnostic" ? [frame.diagnostic.code] : []));
  expect(told[0]).toMatch(/cursor_(malformed|unknown)$/);
  stop.abort();
});

test("watching a missing session throws ObservationError", async () => {
  const client = clientOf();
  const nobody = await new Reading(client.runtimes.observe("box", "nobody")).done.catch(
    (error: unknown) => error,
  );
  expect(nobody).toBeInstanceOf(ObservationError);
  expect((nobody as ObservationError).code).toMatch(/worker_not_found$/);
  await expect(new Reading(client.runtimes.observe("nowhere", "w")).done).rejects.toMatchObject({
    status: 404,
  });
  const stranger = clientOf({ token: "tombolo_wrong" });
  await expect(new Reading(stranger.runtimes.observe("box", "w")).done).rejects.toBeInstanceOf(ProblemError);
});

test("users can be added, see what they may, and be removed", async () => {
  const client = clientOf();
  await client.users.add({ name: "ana", roles: { default: "viewer" } });
  const { token: made, secret } = await client.tokens.add({ name: "laptop", user: "ana" });
  expect(await client.tokens.list({ user: "ana" })).toMatchObject([{ id: made.id, name: "laptop" }]);
  const ana = clientOf({ token: secret });
  expect(await ana.whoAmI()).toMatchObject({ user: { name: "ana" }, token: { name: "laptop" } });
  await client.sandbox("box").sessions.create("seen", { agent: "mock" });
  const reading = new Reading(ana.runtimes.observe("box", "seen"));
  await reading.until(({ kind }) => kind === "event");
  await expect(ana.sandbox("box").sessions.send("seen", "hello")).rejects.toMatchObject({ status: 403 });
  await client.users.update("ana", { roles: { default: "controller" } });
  await ana.sandbox("box").sessions.send("seen", "hello");
  await client.tokens.revoke(made.id);
  const ended = await reading.done.catch((error: unknown) => error);
  expect(ended).toBeInstanceOf(ObservationError);
  expect((ended as ObservationError).code).toBe("backend.denied");
  await expect(ana.whoAmI()).rejects.toMatchObject({ status: 401 });
  await client.users.remove("ana");
  await expect(client.users.get("ana")).rejects.toMatchObject({ status: 404 });
  expect((await client.users.list()).map(({ name }) => name)).not.toContain("ana");
});

test("waits of all runtimes are listed and answered through the hub", async () => {
  const client = clientOf();
  const sandbox = client.sandbox("box");
  const stop = new AbortController();
  const reading = new Reading(client.waits.events({ signal: stop.signal }));
  await reading.until(({ type }) => type === "snapshot");
  await sandbox.sessions.create("asks", { agent: "mock" });
  await sandbox.sessions.send("asks", "/permission");
  const opened = await reading.until(({ type }) => type === "opened");
  if (opened.type !== "opened") throw new Error("it is not opened");
  expect((await client.waits.list()).items).toMatchObject([{ id: opened.wait.id, runtimeId: "box" }]);
  const answered = await client.waits.answer("box", opened.wait.id, { permission: "once" });
  const { user } = await client.whoAmI();
  expect(answered.settlement).toMatchObject({ author: user.name });
  await reading.until(({ type }) => type === "settled");
  stop.abort();
});
