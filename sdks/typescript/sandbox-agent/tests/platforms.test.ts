import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { createContext, Script } from "node:vm";
import { build } from "esbuild";
import { systemNode } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();

/** What every platform has, be it a browser or a worker. */
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

test("typescript #8: it needs nothing but what the web has", async () => {
  // A module of Node's cannot be bundled for a browser, so that this fails too.
  const bundle = await build({
    stdin: { contents: 'export * from "sandbox-agent";', resolveDir: import.meta.dirname },
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

test("it works on the node of the system, and nothing of it is left to hold that up", async () => {
  const script = join(import.meta.dirname, "scripts/conversation.js");
  for (const node of [await systemNode(), process.execPath]) {
    const { stdout } = await promisify(execFile)(node, [script, daemon.url], { timeout: 30_000 });
    expect(stdout).toMatch(/^v\d+\.\d+\.\d+ end_turn\n$/);
  }
});
