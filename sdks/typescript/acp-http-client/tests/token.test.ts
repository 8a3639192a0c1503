import { AcpHttpClient } from "@tombolo/acp-http-client";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";
import { converse, Reading } from "./conversing.js";

const TOKEN = "a-token-for-tests";
const daemon = daemonOf({ token: TOKEN });
const clientOf = (serverId: string, options = {}): AcpHttpClient =>
  new AcpHttpClient({ baseUrl: daemon.url, serverId, agent: "mock", ...options });

test("sending and reading fail without the token", async () => {
  for (const token of [undefined, "another"]) {
    await using client = clientOf("closed", { token });
    const refused = { status: 401, type: "urn:problem:unauthorized" };
    await expect(client.request("initialize")).rejects.toMatchObject(refused);
    await expect(client.events().next()).rejects.toMatchObject(refused);
    await expect(client.close({ delete: true })).rejects.toMatchObject(refused);
  }
});

test("the token is sent with every request, also if a function returns it", async () => {
  let told = 0;
  const tell = async (): Promise<string> => {
    told += 1;
    return TOKEN;
  };
  const headers = { authorization: `Bearer ${TOKEN}` };
  for (const options of [{ token: TOKEN }, { token: tell }, { headers }]) {
    await using client = clientOf("open", options);
    const reading = new Reading(client);
    const session = await converse(client);
    await session.prompt("hello");
    expect(reading.texts).toContain("hello");
    await client.close({ delete: true });
  }
  expect(told).toBeGreaterThanOrEqual(5);
});
