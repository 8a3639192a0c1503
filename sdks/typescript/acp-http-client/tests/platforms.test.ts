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
    expect(output).toMatch(new RegExp(`^${name} v\\d+\\.\\d+\\.\\d+\\n$`));
  },
);

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
  const client = new library.AcpHttpClient({ baseUrl, serverId: "web", agent: "mock" });
  const reader = client.stream().readable.getReader();
  const reading = (async () => { while (!(await reader.read()).done); })();
  await client.request("initialize", {});
  const { sessionId } = await client.request("session/new", { cwd: "/", mcpServers: [] });
  const result = await client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
  await client.close({ delete: true });
  await reading;
  return result.stopReason;
})`;

test("typescript-8: it needs only web standards", async () => {
  const context = await loadBundle("@tombolo/acp-http-client", import.meta.dirname, WEB);
  const converse = new Script(CONVERSATION).runInContext(context);
  expect(await converse(daemon.url)).toBe("end_turn");
});
