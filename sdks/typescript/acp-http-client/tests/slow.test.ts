import { AcpHttpClient } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, grows } from "./conversing.js";
import { instanceOf } from "./daemon.js";

const daemon = daemonOf();

test("a reader that pauses slows down the stream, and continues later", async () => {
  await using network = await Network.start(daemon.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "slow", agent: "mock" });
  const session = await converse(client);
  const events = client.events();
  await events.next();
  // 20 MB, more than all buffers hold.
  const prompt = session.prompt("/updates 5000 4000");
  await until(async () => (await instanceOf(daemon.url, "slow"))?.pendingRequests === 0);
  // The buffers of the system, and 8 MB of the client.
  expect(network.received).toBeLessThan(15_000_000);
  const ids: number[] = [];
  let gaps = 0;
  const newest = 2 + 5_000 + 1;
  while (ids.at(-1) !== newest) {
    const { value } = await events.next();
    if (value?.type === "message") ids.push(value.eventId);
    if (value?.type === "gap") gaps += 1;
  }
  expect(grows(ids)).toBe(true);
  // All messages are there, or a gap reports the missing ones.
  expect(ids.length === newest - 1 || gaps > 0).toBe(true);
  expect(await prompt).toEqual({ stopReason: "end_turn" });
});

test("one large message does not block the stream", async () => {
  await using client = new AcpHttpClient({ baseUrl: daemon.url, serverId: "large", agent: "mock" });
  const session = await converse(client);
  let largest = 0;
  const reading = (async () => {
    for await (const event of client.events()) {
      largest = Math.max(largest, JSON.stringify(event).length);
    }
  })();
  await session.prompt(`/updates 1 ${12 << 20}`);
  expect(largest).toBeGreaterThan(12 << 20);
  await client.close();
  await reading;
});
