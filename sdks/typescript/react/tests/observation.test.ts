import { type ObservationSource, useObservation } from "@tombolo/react";
import { type ObservationFrame, snapshotOf } from "@tombolo/session";
import { expect, test } from "vitest";
import { look } from "./look.js";
import { sandbox } from "./sandbox.js";

const here = sandbox();

/** The stream of a daemon, one connection. */
const source: ObservationSource = {
  async *watch(workerId, { signal } = {}) {
    const url = `${here.url.replace("http", "ws")}/v1/workers/${workerId}/events/ws`;
    const socket = new WebSocket(url);
    signal?.addEventListener("abort", () => socket.close());
    const frames = new ReadableStream<ObservationFrame>({
      start(controller) {
        socket.onmessage = ({ data }) => controller.enqueue(JSON.parse(String(data)));
        socket.onclose = () => controller.close();
      },
    });
    yield* frames;
  },
};

test("a worker is watched", async () => {
  const { client } = here;
  await client.sessions.create("seen", { agent: "mock" });
  using observed = look(() => useObservation(source, "seen"));
  await observed.until(({ state }) => state?.live === true, "live");
  await client.sessions.send("seen", "/think hm\n/tool\nhello");
  const idle = await observed.until(({ state }) => {
    const session = state?.session;
    return session?.session.state === "idle" && session.messages.length === 2;
  }, "idle");
  const said = await client.sessions.snapshot("seen");
  expect(snapshotOf(idle.state?.session ?? expect.fail()).messages).toStrictEqual(said.messages);
  expect(idle).toMatchObject({ status: "live", state: { diagnostic: undefined } });
});

test("a stream that ends has ended, and can be watched again", async () => {
  await here.client.sessions.create("cut", { agent: "mock" });
  let cut = new AbortController();
  const own: ObservationSource = {
    watch: (id, options) =>
      source.watch(id, {
        signal: AbortSignal.any([cut.signal, ...(options?.signal ? [options.signal] : [])]),
      }),
  };
  using observed = look(() => useObservation(own, "cut"));
  await observed.until(({ state }) => state?.live === true, "live");
  cut.abort();
  const { state, retry } = await observed.until(({ status }) => status === "ended", "ended");
  expect(state?.session?.session.id).toBe("cut");
  await here.client.sessions.send("cut", "meanwhile");
  cut = new AbortController();
  retry();
  expect(
    (await observed.until(({ status }) => status !== "ended")).state,
    "what is known stays",
  ).toBeDefined();
  await observed.until(({ state }) => state?.session?.messages.length === 2, "all of it");
});
