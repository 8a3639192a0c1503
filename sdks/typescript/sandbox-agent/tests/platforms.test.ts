import { join } from "node:path";
import { Script } from "node:vm";
import { javaScriptRuntimes, loadBundle } from "tombolo-testing";
import { daemonOf } from "tombolo-testing/vitest";
import { expect, test } from "vitest";

const daemon = daemonOf();
const script = join(import.meta.dirname, "scripts/conversation.js");

test.each(await javaScriptRuntimes())(
  "typescript-8: it works on $name, and does not keep the process alive",
  async ({ name, run }) => {
    const output = await run(script, daemon.url);
    expect(output).toMatch(new RegExp(`^${name} v\\d+\\.\\d+\\.\\d+ end_turn\\n$`));
  },
);

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
  const client = new library.SandboxAgentClient({ baseUrl, agent: "mock" });
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
  const context = await loadBundle("@tombolo/sandbox-agent", import.meta.dirname, WEB);
  const converse = new Script(CONVERSATION).runInContext(context);
  expect(await converse(daemon.url)).toEqual(["end_turn", "exited"]);
});
