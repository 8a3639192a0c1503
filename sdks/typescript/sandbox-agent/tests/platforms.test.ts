import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import { build } from "esbuild";
import { systemNode } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();

/** The globals that browsers, workers and servers have in common. */
const WEB = {
  AbortController,
  Blob,
  DOMException,
  Headers,
  ReadableStream,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  WebSocket,
  clearTimeout,
  crypto,
  fetch,
  performance,
  queueMicrotask,
  setTimeout,
};

const CONVERSATION = `(async (baseUrl) => {
  const client = new sandbox.SandboxAgentClient({ baseUrl, agent: "mock" });
  const { sessionId } = await client.newSession({ directory: "/" });
  const { stopReason } = await client.prompt(sessionId, "hello");
  await client.disconnect();
  await client.sessions.create("web", { agent: "mock" });
  await client.sessions.send("web", "hello");
  for await (const { event } of client.sessions.events("web")) if ("turnEnded" in event) break;
  const { id } = await client.processes.start({ command: "true", terminal: { columns: 80, rows: 24 } });
  let last;
  for await (const event of client.processes.terminal(id)) last = event.type;
  return [stopReason, last];
})`;

test("typescript-8: it needs only web standards", async () => {
  // Bundling for a browser fails if the package imports a module of Node.
  const bundle = await build({
    stdin: { contents: 'export * from "@tombolo/sandbox-agent";', resolveDir: import.meta.dirname },
    bundle: true,
    format: "iife",
    globalName: "sandbox",
    platform: "browser",
    write: false,
  });
  const context = createContext({ ...WEB });
  new Script(bundle.outputFiles[0]?.text ?? "").runInContext(context);
  const converse = new Script(CONVERSATION).runInContext(context);
  expect(await converse(daemon.url)).toEqual(["end_turn", "exited"]);
});

const run = promisify(execFile);
const script = join(import.meta.dirname, "scripts/conversation.js");

test("it works on the Node of the system, and does not keep the process alive", async () => {
  for (const node of [await systemNode(), process.execPath]) {
    const { stdout } = await run(node, [script, daemon.url], { timeout: 30_000 });
    expect(stdout).toMatch(/^node v\d+\.\d+\.\d+ end_turn\n$/);
  }
});

/** The directory of the programs of npm packages. */
const PROGRAMS = join(import.meta.dirname, "../../node_modules/.bin");

test.each([
  ["bun", ["run"]],
  ["deno", ["run", "--allow-net", "--allow-read", "--allow-env"]],
])("typescript-8: it works on %s, and nothing of it is left to hold that up", async (program, args) => {
  const { stdout } = await run(join(PROGRAMS, program), [...args, script, daemon.url], { timeout: 30_000 });
  expect(stdout).toMatch(new RegExp(`^${program} v\\d+\\.\\d+\\.\\d+ end_turn\\n$`));
});
