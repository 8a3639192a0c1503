import { AcpHttpClient, ProblemError } from "@tombolo/acp-http-client";
import { Daemon, Network } from "tombolo-testing";
import { expect, test } from "vitest";
import { converse, Reading } from "./conversing.js";

test("after a restart of the daemon the instance is gone", async () => {
  await using first = await Daemon.start();
  await using network = await Network.start(first.port);
  await using client = new AcpHttpClient({ baseUrl: network.url, serverId: "restart", agent: "mock" });
  const reading = new Reading(client);
  const session = await converse(client);
  const prompt = session.prompt("before\n/hang").catch((error) => error);
  await reading.read("before");
  await first.kill();
  await using second = await Daemon.start();
  network.redirect(second.port);
  // The message is sent again, but only `initialize` creates a new instance.
  const failure = await prompt;
  expect(failure).toBeInstanceOf(ProblemError);
  expect(failure).toMatchObject({ status: 400, type: "urn:problem:agent-required" });
  await reading.heard("gone");
  const again = await converse(client);
  await again.prompt("after");
  expect(reading.texts).toEqual(["before", "after"]);
  expect(reading.ids).toEqual([1, 2, 3, 1, 2, 3, 4]);
});

test("an instance that was recreated meanwhile is reported as a gap", async () => {
  await using first = await Daemon.start();
  await using network = await Network.start(first.port);
  const options = { serverId: "another", agent: "mock" };
  await using client = new AcpHttpClient({ ...options, baseUrl: network.url });
  const reading = new Reading(client);
  const session = await converse(client);
  await session.prompt("/chunks 10");
  network.refuse(true);
  await first.kill();
  await using second = await Daemon.start();
  network.redirect(second.port);
  await using other = new AcpHttpClient({ ...options, baseUrl: second.url });
  const theirs = await converse(other);
  await theirs.prompt("somebody else");
  network.refuse(false);
  await reading.read("somebody else");
  expect(reading.of("gap")).toEqual([{ type: "gap", oldest: 1, newest: 4 }]);
});
