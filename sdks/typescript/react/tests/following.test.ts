import { useSession } from "@tombolo/react";
import { GapError } from "@tombolo/sandbox-agent";
import type { EventRecord, SessionClient } from "@tombolo/session";
import { until } from "tombolo-testing";
import { expect, test } from "vitest";
import { renderHook } from "./render-hook.js";
import { sandbox, textOf } from "./sandbox.js";

const here = sandbox();

/** The real client with some methods replaced. */
function through(change: (sessions: SessionClient["sessions"]) => Partial<SessionClient["sessions"]>) {
  const { sessions, waits } = here.client;
  const own: SessionClient["sessions"] = {
    snapshot: (id, options) => sessions.snapshot(id, options),
    events: (id, options) => sessions.events(id, options),
    send: (id, message, options) => sessions.send(id, message, options),
    cancel: (id, options) => sessions.cancel(id, options),
  };
  return { sessions: { ...own, ...change(own) }, waits } satisfies SessionClient;
}

test("components share one connection, which closes with the last of them", async () => {
  await here.client.sessions.create("shared", { agent: "mock" });
  const opened: AbortSignal[] = [];
  const client = through(({ events }) => ({
    events: (id, options) => {
      if (options?.signal !== undefined) opened.push(options.signal);
      return events(id, options);
    },
  }));
  const [first, second] = [
    renderHook(() => useSession(client, "shared")),
    renderHook(() => useSession(client, "shared")),
  ];
  await Promise.all([first, second].map((each) => each.until(({ status }) => status === "live")));
  await first.now().send("hello");
  await second.until(({ state }) => textOf(state)?.length === 2, "answered");
  expect(opened.length).toBe(1);
  first[Symbol.dispose]();
  await here.client.sessions.send("shared", "again");
  await second.until(({ state }) => textOf(state)?.length === 4, "answered again");
  second[Symbol.dispose]();
  await until(() => opened.every(({ aborted }) => aborted), "closed");
});

test("after a gap the state is read again", async () => {
  await here.client.sessions.create("gap", { agent: "mock" });
  let gaps = 1;
  const held = Promise.withResolvers<void>();
  const client = through(({ snapshot, events }) => ({
    snapshot: async (id, options) => {
      if (gaps === 0) await held.promise;
      return snapshot(id, options);
    },
    async *events(id, options) {
      for await (const record of events(id, options)) {
        if ("turnEnded" in record.event && gaps-- > 0) throw new GapError({ oldest: 9, newest: 9 });
        yield record;
      }
    },
  }));
  using session = renderHook(() => useSession(client, "gap"));
  await session.until(({ status }) => status === "live");
  await session.now().send("hello");
  const { state } = await session.until(({ status }) => status === "gap", "gap");
  expect(state?.session.turnId, "what is known stays").not.toBeNull();
  held.resolve();
  const after = await session.until(({ status }) => status === "live", "live again");
  expect(textOf(after.state)).toEqual(["hello", "hello"]);
  await session.until(({ state }) => state?.session.state === "idle", "idle");
});

test("the last state stays available while broken and while retrying", async () => {
  await here.client.sessions.create("stays", { agent: "mock" });
  const cut = Promise.withResolvers<never>();
  const asked: (number | undefined)[] = [];
  let snapshots = 0;
  const client = through(({ snapshot, events }) => ({
    snapshot: (id, options) => {
      snapshots += 1;
      return snapshot(id, options);
    },
    async *events(id, options) {
      asked.push(options?.after);
      if (asked.length === 1) await cut.promise;
      yield* events(id, options);
    },
  }));
  using session = renderHook(() => useSession(client, "stays"));
  const { state: before } = await session.until(({ status }) => status === "live");
  cut.reject(new Error("gone"));
  const { state, error, retry } = await session.until(({ status }) => status === "broken", "broken");
  expect(state).toBe(before);
  expect(error).toMatchObject({ message: "gone" });
  retry();
  await session.until(({ status }) => status === "live", "live");
  expect({ asked, snapshots }).toEqual({ asked: [before?.seq, before?.seq], snapshots: 1 });
});

test("events that arrive together cause one render", async () => {
  await here.client.sessions.create("burst", { agent: "mock" });
  const start = await here.client.sessions.snapshot("burst");
  const message = { id: "m", role: "assistant", parts: [{ id: "0", type: "text", text: "" }] } as const;
  const delta = { messageId: "m", partId: "0", kind: "text", text: "x" } as const;
  const client = through(() => ({
    async *events(): AsyncGenerator<EventRecord> {
      let seq = start.seq;
      const record = (event: EventRecord["event"]) => ({ seq: ++seq, time: "2026-01-01T00:00:00Z", event });
      yield record({ message });
      for (let count = 0; count < 1000; count += 1) yield record({ messageDelta: delta });
      await new Promise(() => {});
    },
  }));
  using session = renderHook(() => useSession(client, "burst"));
  await session.until(({ state }) => textOf(state)?.[0]?.length === 1000, "all of it");
  expect(session.renderCount()).toBeLessThan(50);
});
