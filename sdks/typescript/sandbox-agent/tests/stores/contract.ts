import { SandboxAgentClient, type SessionStore, type StoredSession } from "@tombolo/sandbox-agent";
import { expect, test } from "vitest";

const sessionOf = (sessionId: string, more: Partial<StoredSession> = {}): StoredSession => ({
  sessionId,
  agent: "mock",
  directory: "/",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  ended: false,
  eventCount: 0,
  metadata: {},
  ...more,
});

/** Tests that every store must pass (typescript-4). `open` returns another store with the same content each time. */
export function storeContract(open: () => SessionStore, daemon: { readonly url: string }): void {
  test("a stored session can be read, also through another store", async () => {
    const session = sessionOf("kept", {
      eventCount: 2 ** 40,
      metadata: {
        title: "Zoë's \u{1f3dd} 'quoted' \"words\"; --",
        skills: ["a"],
        deep: { list: [1, null, true] },
      },
    });
    await open().put(session);
    expect(await open().get("kept")).toEqual(session);
  });

  test("storing a session again replaces it", async () => {
    const store = open();
    await store.put(sessionOf("again", { eventCount: 1, metadata: { title: "before" } }));
    await store.put(sessionOf("again", { eventCount: 2 }));
    expect(await store.get("again")).toEqual(sessionOf("again", { eventCount: 2 }));
  });

  test("sessions are listed in the order of their creation", async () => {
    const store = open();
    const times = ["2026-03-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z", "2026-02-01T00:00:00.001Z"];
    for (const [at, createdAt] of times.entries()) await store.put(sessionOf(`listed-${at}`, { createdAt }));
    const listed = (await open().list())
      .map(({ sessionId }) => sessionId)
      .filter((id) => id.startsWith("listed"));
    expect(listed).toEqual(["listed-1", "listed-2", "listed-0"]);
  });

  test("a deleted session is gone", async () => {
    const store = open();
    await store.put(sessionOf("deleted"));
    await store.delete("deleted");
    await store.delete("deleted");
    expect(await store.get("deleted")).toBeUndefined();
    expect((await store.list()).map(({ sessionId }) => sessionId)).not.toContain("deleted");
  });

  test("several writes can run at once", async () => {
    const names = Array.from({ length: 50 }, (_, at) => `many-${at}`);
    await Promise.all(names.map((name) => open().put(sessionOf(name))));
    const listed = (await open().list())
      .map(({ sessionId }) => sessionId)
      .filter((id) => id.startsWith("many"));
    expect(listed.sort()).toEqual(names.sort());
  });

  test("another client finds the stored sessions", async () => {
    await using client = new SandboxAgentClient({ baseUrl: daemon.url, agent: "mock", store: open() });
    const { sessionId } = await client.newSession({ directory: "/", title: "Kept" });
    await client.prompt(sessionId, "/chunks 20");
    await client.setMetadata(sessionId, { variant: "high" });
    await using other = new SandboxAgentClient({ baseUrl: daemon.url, agent: "mock", store: open() });
    const found = (await other.listSessions()).find((session) => session.sessionId === sessionId);
    expect(found).toMatchObject({ title: "Kept", variant: "high", agent: "mock", ended: false });
    await client.terminateSession(sessionId);
    expect((await other.listSessions()).find((session) => session.sessionId === sessionId)).toMatchObject({
      ended: true,
      eventCount: 20,
    });
  });
}
