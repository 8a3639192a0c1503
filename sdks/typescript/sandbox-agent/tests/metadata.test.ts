import {
  MemoryStore,
  SandboxAgentClient,
  SessionEndedError,
  type StoredSession,
} from "@tombolo/sandbox-agent";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();
const clientOf = (store = new MemoryStore()): SandboxAgentClient =>
  new SandboxAgentClient({ baseUrl: daemon.url, agent: "mock", store });
const directory = "/";

test("typescript-4: metadata are fields of the listed session", async () => {
  await using client = clientOf();
  const metadata = {
    title: "Fix the build",
    variant: "high",
    permissionMode: "plan",
    skills: ["review"],
    agentVersionRequested: "1.2.3",
    requestedSessionId: "mine",
    ticket: { id: 7 },
  };
  const session = await client.newSession({ directory, ...metadata });
  expect(session).toMatchObject({ ...metadata, directory, agent: "mock", ended: false, eventCount: 0 });
  const [listed, ...others] = await client.listSessions();
  expect(others).toEqual([]);
  expect(listed).toEqual(session);
  expect(Date.parse(session.createdAt)).toBeLessThanOrEqual(Date.parse(session.updatedAt));
});

test("typescript-4: events of a session are counted, and its end is stored", async () => {
  await using client = clientOf();
  const { sessionId, updatedAt } = await client.newSession({ directory });
  await client.prompt(sessionId, "/chunks 5");
  const [listed] = await client.listSessions();
  expect(listed).toMatchObject({ sessionId, eventCount: 5, ended: false });
  expect(Date.parse(listed?.updatedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(updatedAt));
  await client.terminateSession(sessionId);
  expect(await client.listSessions()).toMatchObject([{ sessionId, eventCount: 5, ended: true }]);
  await expect(client.prompt(sessionId, "hello")).rejects.toBeInstanceOf(SessionEndedError);
});

test("typescript-4: metadata can be added and removed", async () => {
  await using client = clientOf();
  const { sessionId } = await client.newSession({ directory, title: "Before", variant: "high" });
  const changed = await client.setMetadata(sessionId, { title: "After", variant: undefined, note: 1 });
  expect(changed).toMatchObject({ title: "After", note: 1 });
  const [listed] = await client.listSessions();
  expect(listed).toMatchObject({ title: "After", note: 1 });
  expect(listed).not.toHaveProperty("variant");
  await expect(client.setMetadata("nobody", {})).rejects.toBeInstanceOf(RangeError);
});

test("typescript-4: mode and model are stored when they are set", async () => {
  await using client = clientOf();
  const { sessionId } = await client.newSession({ directory, mode: "plan", model: "mock" });
  expect(await client.listSessions()).toMatchObject([{ mode: "plan", model: "mock" }]);
  await client.setSessionMode(sessionId, "build");
  expect(await client.listSessions()).toMatchObject([{ mode: "build", model: "mock" }]);
});

test("typescript-4: another client with the same store lists the same sessions", async () => {
  const store = new MemoryStore();
  await using client = clientOf(store);
  const { sessionId, createdAt } = await client.newSession({ directory, title: "Shared" });
  await client.prompt(sessionId, "/remember blue");
  await using other = clientOf(store);
  expect(await other.listSessions()).toMatchObject([
    { sessionId, createdAt, title: "Shared", eventCount: 1 },
  ]);
  const loaded = await other.loadSession(sessionId, { directory });
  expect(loaded).toMatchObject({ sessionId, createdAt, title: "Shared" });
});

test("a failure of the store is reported, and the change is written later", async () => {
  let broken = false;
  class Failing extends MemoryStore {
    override async put(session: StoredSession): Promise<void> {
      if (broken) throw new Error("the disk is full");
      await super.put(session);
    }
  }
  const store = new Failing();
  await using client = clientOf(store);
  const { sessionId } = await client.newSession({ directory });
  broken = true;
  await client.prompt(sessionId, "/chunks 3");
  await expect(client.setMetadata(sessionId, { title: "Lost" })).rejects.toThrow("the disk is full");
  await expect(client.listSessions()).rejects.toThrow("the disk is full");
  broken = false;
  expect(await client.listSessions()).toMatchObject([{ eventCount: 3, title: "Lost" }]);
});

test("a change during a write is written afterwards", async () => {
  class Slow extends MemoryStore {
    override async put(session: StoredSession): Promise<void> {
      await new Promise((resolve) => setTimeout(resolve, 1));
      await super.put(session);
    }
  }
  const store = new Slow();
  await using client = clientOf(store);
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "/chunks 200");
  await expect.poll(async () => (await store.get(sessionId))?.eventCount).toBe(200);
  expect(await client.listSessions()).toMatchObject([{ eventCount: 200 }]);
});

test("a stored session cannot be changed through a returned object", async () => {
  const store = new MemoryStore();
  const skills = ["review"];
  const session = {
    sessionId: "s",
    agent: "mock",
    directory,
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    ended: false,
    eventCount: 0,
    metadata: { skills },
  };
  await store.put(session);
  skills.push("another");
  expect((await store.get("s"))?.metadata.skills).toEqual(["review"]);
});

test("events that arrive together cause one write", async () => {
  let puts = 0;
  class Counting extends MemoryStore {
    override async put(session: StoredSession): Promise<void> {
      puts += 1;
      await super.put(session);
    }
  }
  await using client = clientOf(new Counting());
  const { sessionId } = await client.newSession({ directory });
  await client.prompt(sessionId, "/chunks 4000");
  expect(await client.listSessions()).toMatchObject([{ eventCount: 4000 }]);
  expect(puts).toBeLessThan(400);
});
