import { useObservation } from "@tombolo/react";
import { HubClient, ObservationError, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { toSnapshot } from "@tombolo/session";
import { Daemon, Hub, Network, until } from "tombolo-testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { renderHook } from "./render-hook.js";

const token = "a-token-of-the-daemon";
let daemon: Daemon;
let hub: Hub;
let network: Network;
beforeAll(async () => {
  [daemon, hub] = await Promise.all([Daemon.start({ token }), Hub.start()]);
  network = await Network.start(hub.port);
  await new HubClient({ baseUrl: hub.url, token: hub.token }).runtimes.add({
    id: "box",
    endpoint: daemon.url,
    token,
  });
});
afterAll(async () => {
  for (const each of [network, hub, daemon]) await each?.[Symbol.asyncDispose]();
});
const sandboxOf = () => new SandboxAgentClient({ baseUrl: daemon.url, token });
const hubOf = () => new HubClient({ baseUrl: network.url, token: hub.token });

/** typescript-10, sessions-12: the observed state equals the session, also after a lost connection. */
test("a session is watched through a hub across lost connections", async () => {
  const [sandbox, client] = [sandboxOf(), hubOf()];
  await sandbox.sessions.create("seen", { agent: "mock" });
  using observed = renderHook(() => useObservation(client, "box", "seen"));
  await observed.until(({ state }) => state?.live === true, "live");
  await sandbox.sessions.send("seen", "/think hm\n/tool\n/drip 20 20\nhello");
  await observed.until(({ state }) => state?.session?.session.state === "running", "running");
  network.cut();
  const idle = await observed.until(({ state }) => {
    const session = state?.session;
    return session?.session.state === "idle" && session.messages.length === 2;
  }, "idle");
  const { messages } = await sandbox.sessions.snapshot("seen");
  expect(toSnapshot(idle.state?.session ?? expect.fail()).messages).toStrictEqual(messages);
  expect(idle).toMatchObject({ status: "live", state: { live: true, diagnostic: undefined } });
  expect(network.cuts).toBeGreaterThan(0);
});

test("presence lists a viewer until they leave", async () => {
  const [sandbox, client] = [sandboxOf(), hubOf()];
  await sandbox.sessions.create("watched", { agent: "mock" });
  const { user } = await client.whoAmI();
  const observed = renderHook(() => useObservation(client, "box", "watched"));
  const isSeen = ({ state }: ReturnType<typeof useObservation>) =>
    state?.presence?.watchers.some((watcher) => watcher.user === user.name) ?? false;
  await observed.until(isSeen, "presence");
  observed[Symbol.dispose]();
  await until(async () => (await client.runtimes.presence("box", "watched")).watchers.length === 0, "gone");
});

test("a missing worker is broken until it exists", async () => {
  const client = hubOf();
  using observed = renderHook(() => useObservation(client, "box", "later"));
  const { error, retry } = await observed.until(({ status }) => status === "broken", "broken");
  expect(error).toBeInstanceOf(ObservationError);
  await sandboxOf().sessions.create("later", { agent: "mock" });
  retry();
  await observed.until(({ status, state }) => status === "live" && state?.session !== undefined, "live");
});
