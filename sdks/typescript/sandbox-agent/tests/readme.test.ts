import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { HubClient } from "@tombolo/sandbox-agent";
import { codeBlocks, Hub } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { afterAll, beforeAll, expect, test } from "vitest";

const daemon = daemonOf();
const home = join(import.meta.dirname, "..");
/** The guide of this package, and the project's guide to sessions. */
const readmes = [join(home, "README.md"), join(home, "../../../docs/sessions.md")];
const snippets = (await Promise.all(readmes.map((file) => codeBlocks(file, "ts")))).flat();
let hub: Hub;

beforeAll(async () => {
  hub = await Hub.start();
  const client = new HubClient({ baseUrl: hub.url, token: hub.token });
  await client.runtimes.add({ id: "box", endpoint: daemon.url });
});
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]();
  await rm("/tmp/sandbox-agent-readme-data", { recursive: true, force: true });
});

test("there are snippets to run", () => {
  expect(snippets.length).toBe(6);
});

test.each(snippets.map((code, at) => [at + 1, code] as const))("snippet %i runs", async (_, code) => {
  const here = code
    .replaceAll("http://127.0.0.1:2468", daemon.url)
    .replaceAll("http://127.0.0.1:2470", hub.url);
  const args = ["--input-type=module-typescript", "--eval", here];
  const env = { ...process.env, TOMBOLO_HUB_TOKEN: hub.token };
  await promisify(execFile)(process.execPath, args, { cwd: home, env, timeout: 30_000 });
});
