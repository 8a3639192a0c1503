import { AcpHttpClient } from "@tombolo/acp-http-client";
import { Network, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, grows } from "./conversing.js";
import { instanceOf } from "./daemon.js";

const daemon = daemonOf();

/** Updates of a flood, and the bytes of each. */
const UPDATES = 15_000;
const UPDATE_BYTES = 4_000;

/**
 * The most bytes that leave the daemon while the reader pauses: 8 MB in the client, and the buffers of the two connections
 * through the network. Linux lets these grow to 10 MB each.
 */
const BUFFERED_BYTES_MAX = 30_000_000;

test("a reader that pauses slows down the stream, and continues later", async () => {
  await using network = await Network.start(daemon.port);
  const serverId = `slow-${crypto.randomUUID()}`;
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId, agent: "mock" });
  const session = await converse(client);
  const events = client.events();
  await events.next();
  const prompt = session.prompt(`/updates ${UPDATES} ${UPDATE_BYTES}`);
  await until(async () => (await instanceOf(daemon.url, serverId))?.pendingRequests === 0);
  expect(network.received).toBeLessThan(BUFFERED_BYTES_MAX);
  const ids: number[] = [];
  let gaps = 0;
  const newest = 2 + UPDATES + 1;
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
