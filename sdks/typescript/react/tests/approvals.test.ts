import { useApprovals } from "@tombolo/react";
import { ProblemError } from "@tombolo/sandbox-agent";
import { expect, test } from "vitest";
import { renderHook } from "./render-hook.js";
import { sandbox } from "./sandbox.js";

const here = sandbox();

/** The first answer to a wait wins, and every client receives it. */
test("open waits are shown for all sessions or one, and answered once", async () => {
  const { client } = here;
  for (const id of ["a", "b"]) {
    await client.sessions.create(id, { agent: "mock" });
    await client.sessions.send(id, "/permission");
  }
  using all = renderHook(() => useApprovals(client));
  using one = renderHook(() => useApprovals(client, { sessionId: "b" }));
  const { state, answer } = await all.until(({ state }) => state?.length === 2, "two");
  await one.until(({ state }) => state?.length === 1, "one");
  expect(one.now().state?.[0]).toEqual(state?.find(({ sessionId }) => sessionId === "b"));

  const [first] = state ?? [];
  const settled = await answer(first?.id ?? "", { permission: "once" }, { author: "ada" });
  expect(settled.settlement).toMatchObject({ outcome: { permission: "once" }, author: "ada" });
  await all.until(({ state }) => state?.length === 1, "one is left");
  await expect(answer(first?.id ?? "", "reject")).rejects.toThrow(ProblemError);

  // An answer of another client removes the wait here too.
  const left = all.now().state?.[0];
  await client.waits.answer(left?.id ?? "", "reject");
  await all.until(({ state }) => state?.length === 0, "none is left");
});

test("a new wait appears without a reload", async () => {
  const { client } = here;
  await client.sessions.create("later", { agent: "mock" });
  using approvals = renderHook(() => useApprovals(client));
  await approvals.until(({ status, state }) => status === "live" && state?.length === 0, "none");
  await client.sessions.send("later", "/question");
  const { state } = await approvals.until(({ state }) => state?.length === 1, "asked");
  expect(state?.[0]?.request).toHaveProperty("question");
});
