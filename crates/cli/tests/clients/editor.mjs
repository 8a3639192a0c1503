// The official SDK as an editor: it starts the agent that its arguments name and talks to it on the standard streams.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));

const texts = [];
let heard = () => {};
const app = client({ name: "tombolo-test" })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate !== "agent_message_chunk") return;
    texts.push(update.content.text);
    heard();
  })
  .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => ({
    outcome: { outcome: "selected", optionId: options[1].optionId },
  }));

await app.connectWith(stream, async (agent) => {
  const { agentInfo } = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  assert.equal(agentInfo.name, "mock");
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
  const ask = (text) => agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });

  assert.equal((await ask("hello\n/permission\n/chunks 3")).stopReason, "end_turn");
  assert.deepEqual(texts, ["hello", "permission answered: reject", "chunk 1 ", "chunk 2 ", "chunk 3 "]);

  const before = new Promise((resolve) => { heard = resolve; });
  const hanging = ask("before\n/hang");
  await before;
  await agent.notify(methods.agent.session.cancel, { sessionId });
  assert.equal((await hanging).stopReason, "cancelled");
});

const ended = new Promise((resolve) => child.on("exit", resolve));
child.stdin.end();
assert.equal(await ended, 0);
