import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import { build } from "esbuild";
import { systemNode } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();
const run = promisify(execFile);

test("it works on the Node of the system, and does not keep the process alive", async () => {
  const script = join(import.meta.dirname, "scripts/conversation.js");
  for (const node of [await systemNode(), process.execPath]) {
    const { stdout } = await run(node, [script, daemon.url], { timeout: 30_000 });
    expect(stdout).toMatch(/^node v\d+\.\d+\.\d+\n$/);
  }
});

/** The directory of the programs of npm packages. */
const PROGRAMS = join(import.meta.dirname, "../../node_modules/.bin");

test.each([
  ["bun", ["run"]],
  ["deno", ["run", "--allow-net", "--allow-read", "--allow-env"]],
])("typescript-8: it works on %s, and nothing of it is left to hold that up", async (program, args) => {
  const script = join(import.meta.dirname, "scripts/conversation.js");
  const { stdout } = await run(join(PROGRAMS, program), [...args, script, daemon.url], { timeout: 30_000 });
  expect(stdout).toMatch(new RegExp(`^${program} v\\d+\\.\\d+\\.\\d+\\n$`));
});

/** The globals that browsers, workers and servers have in common. */
const WEB = {
  AbortController,
  DOMException,
  Headers,
  ReadableStream,
  TextDecoder,
  URL,
  WritableStream,
  clearTimeout,
  crypto,
  fetch,
  performance,
  queueMicrotask,
  setTimeout,
};

const CONVERSATION = `(async (baseUrl) => {
  const client = new acp.AcpHttpClient({ baseUrl, serverId: "web", agent: "mock" });
  const reader = client.stream().readable.getReader();
  const reading = (async () => { while (!(await reader.read()).done); })();
  await client.request("initialize", {});
  const { sessionId } = await client.request("session/new", { cwd: "/", mcpServers: [] });
  const said = await client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
  await client.close({ delete: true });
  await reading;
  return said.stopReason;
})`;

test("it needs only web standards", async () => {
  const bundle = await build({
    stdin: { contents: 'export * from "@tombolo/acp-http-client";', resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    globalName: "acp",
    platform: "browser",
    write: false,
  });
  const context = createContext({ ...WEB });
  new Script(bundle.outputFiles[0]?.text ?? "").runInContext(context);
  const converse = new Script(CONVERSATION).runInContext(context);
  expect(await converse(daemon.url)).toBe("end_turn");
});
