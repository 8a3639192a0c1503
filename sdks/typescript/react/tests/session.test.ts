import { useSession } from "@tombolo/react";
import { ProblemError } from "@tombolo/sandbox-agent";
import { expect, test } from "vitest";
import { renderHook } from "./render-hook.js";
import { sandbox, textOf } from "./sandbox.js";

const here = sandbox();

test("a session can be followed, sent to and answered", async () => {
  const { client } = here;
  await client.sessions.create("whole", { agent: "mock" });
  using session = renderHook(() => useSession(client, "whole"));
  const { send } = await session.until(({ status }) => status === "live");
  const { turnId } = await send("hello\n/permission\nbye");
  const asked = await session.until(({ state }) => state?.waits.length === 1, "asked");
  expect(asked.state?.session).toMatchObject({ state: "waiting", turnId });
  await asked.answer(asked.state?.waits[0]?.id ?? "", { permission: "reject" }, { author: "ada" });
  const { state } = await session.until(({ state }) => state?.session.state === "idle", "idle");
  expect(textOf(state)?.join("|")).toBe("hello\n/permission\nbye|hello|permission answered: rejectbye");
  expect(state).toMatchObject({ waits: [], inputs: [], session: { turnId: null } });
});

test("cancel interrupts a turn", async () => {
  const { client } = here;
  await client.sessions.create("hanging", { agent: "mock" });
  using session = renderHook(() => useSession(client, "hanging"));
  await session.until(({ status }) => status === "live");
  await session.now().send("/hang");
  await session.until(({ state }) => state?.session.turnId != null, "running");
  await session.now().cancel();
  await session.until(({ state }) => state?.session.state === "idle", "idle");
});

test("a missing session is broken until it exists", async () => {
  const { client } = here;
  using session = renderHook(() => useSession(client, "later"));
  const { error, retry } = await session.until(({ status }) => status === "broken", "broken");
  expect(error).toBeInstanceOf(ProblemError);
  expect(error).toMatchObject({ status: 404 });
  await client.sessions.create("later", { agent: "mock" });
  retry();
  await session.until(({ status }) => status === "live", "live");
});

test("a deleted session has ended and keeps its last state", async () => {
  const { client } = here;
  await client.sessions.create("short", { agent: "mock" });
  using session = renderHook(() => useSession(client, "short"));
  await session.until(({ status }) => status === "live");
  await session.now().send("hello");
  await session.until(({ state }) => textOf(state)?.length === 2, "answered");
  await client.sessions.delete("short");
  const { state } = await session.until(({ status }) => status === "ended", "ended");
  expect(textOf(state)).toEqual(["hello", "hello"]);
});
