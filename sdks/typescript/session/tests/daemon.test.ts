import { join } from "node:path";
import { reduceSession, type SessionSnapshot, type TimedEvent } from "@tombolo/session";
import { codeBlocks, Daemon, snippetRuntimes, until } from "tombolo-testing";
import { afterAll, beforeAll, expect, test } from "vitest";

let daemon: Daemon;
beforeAll(async () => {
  daemon = await Daemon.start();
});
afterAll(() => daemon[Symbol.asyncDispose]());

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const init = {
    method,
    headers: { "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const response = await fetch(`${daemon.url}/v1/${path}`, init);
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return (await response.json()) as T;
}

const snapshot = () => call<SessionSnapshot>("GET", "sessions/s/snapshot");

/** Removes fields that events do not carry, and times that the daemon reads a moment before it stores the event. */
function comparable({ session, waits, ...rest }: SessionSnapshot): unknown {
  return {
    ...rest,
    session: { ...session, updatedAt: null },
    waits: waits.map((wait) => ({ ...wait, openedAt: null, expiresAt: null })),
  };
}

/** typescript-10, sessions-12: a snapshot plus the events after it equals a later snapshot of the daemon. */
test("the reduced state equals the snapshot of the daemon", async () => {
  await call("POST", "sessions/s", { agent: "mock" });
  let state = await snapshot();
  const catchUp = async () => {
    const path = `sessions/s/events?offset=${state.seq}`;
    const { events } = await call<{ events: TimedEvent[] }>("GET", path);
    state = events.reduce(reduceSession, state);
  };
  const isEqual = async () => {
    const now = await snapshot();
    while (state.seq < now.seq) await catchUp();
    if (state.seq === now.seq) expect(comparable(state)).toStrictEqual(comparable(now));
    return state.seq === now.seq;
  };
  await call("POST", "sessions/s/messages", {
    message: "/think hm\n/chunks 9\n/tool\n/edit\n/plan\n/permission",
  });
  await until(async () => (await snapshot()).waits.length === 1);
  await until(isEqual);
  await call("POST", `waits/${state.waits[0]?.id}`, { answer: { permission: "once" }, author: "ada" });
  await until(async () => (await snapshot()).session.state === "idle");
  await until(isEqual);
  expect(state.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
});

test.each(await snippetRuntimes())("the snippet of the README runs twice on $name", async (runtime) => {
  const home = join(import.meta.dirname, "..");
  const [code = expect.fail("no snippet")] = await codeBlocks(join(home, "README.md"), "ts");
  const here = code.replaceAll("http://127.0.0.1:2468", daemon.url);
  for (let run = 1; run <= 2; run++) expect(await runtime.run(here, { cwd: home })).toContain("chunk 3");
});
