import { rm } from "node:fs/promises";
import { join } from "node:path";
import { HubClient, SandboxAgentClient } from "@tombolo/sandbox-agent";
import { codeBlocks, Hub, snippetRuntimes, until } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const daemon = daemonOf();
const home = join(import.meta.dirname, "..");
/** The guide of this package, and the project's guide to sessions. */
const readmes = [join(home, "README.md"), join(home, "../../../docs/sessions.md")];
const snippets = (await Promise.all(readmes.map((file) => codeBlocks(file, "ts")))).flat();
const runtimes = await snippetRuntimes();
let hub: Hub;
let client: SandboxAgentClient;

/** Ids of the open waits of a session that no snippet knows. */
const foreignWaits = async () => {
  const waits = await client.waits.list();
  return waits.filter(({ sessionId }) => sessionId === "foreign").map(({ id }) => id);
};

beforeAll(async () => {
  hub = await Hub.start();
  const manager = new HubClient({ baseUrl: hub.url, token: hub.token });
  await manager.runtimes.add({ id: "box", endpoint: daemon.url });
  client = new SandboxAgentClient({ baseUrl: daemon.url });
  await client.sessions.create("foreign", { agent: "mock" });
  await client.sessions.send("foreign", "/permission");
  await until(async () => (await foreignWaits()).length === 1);
});
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  await rm("/tmp/sandbox-agent-readme-data", { recursive: true, force: true });
});

test("there are snippets to run, and the machine's Node and the newest one to run them", () => {
  expect(snippets.length).toBe(6);
  const [ofMachine, newest] = runtimes.map(({ major }) => major);
  expect(ofMachine).toBeGreaterThanOrEqual(20);
  expect(newest).toBe(24);
});

describe.each(runtimes)("$name", (runtime) => {
  test.each(snippets.map((code, at) => [at + 1, code] as const))("snippet %i runs twice", async (_, code) => {
    const here = code
      .replaceAll("http://127.0.0.1:2468", daemon.url)
      .replaceAll("http://127.0.0.1:2470", hub.url);
    const options = { cwd: home, env: { TOMBOLO_HUB_TOKEN: hub.token } };
    const waits = await foreignWaits();
    if (runtime.major < 22 && here.includes("node:sqlite")) {
      await expect(runtime.run(here, options)).rejects.toThrow("node:sqlite");
      return;
    }
    for (let run = 1; run <= 2; run++) await runtime.run(here, options);
    // A snippet answers only what its own session asks.
    expect(await foreignWaits()).toEqual(waits);
  });
});
