// A conversation on any platform. It prints its result, and exits by itself if the client leaves nothing running.
import assert from "node:assert/strict";
import { AcpHttpClient } from "@tombolo/acp-http-client";

const [baseUrl] = process.argv.slice(2);
const client = new AcpHttpClient({ baseUrl, serverId: `smoke-${crypto.randomUUID()}`, agent: "mock" });
const texts = [];
const reading = (async () => {
  for await (const event of client.events()) {
    const text = event.type === "message" && event.message.params?.update?.content?.text;
    if (text) texts.push(text);
  }
})();
await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await client.request("session/new", { cwd: "/", mcpServers: [] });
const prompt = (text) => client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
assert.deepEqual(await prompt("/chunks 3"), { stopReason: "end_turn" });
assert.deepEqual(texts, ["chunk 1 ", "chunk 2 ", "chunk 3 "]);
const hanging = assert.rejects(prompt("/hang"), { name: "ClosedError" });
await client.close();
await Promise.all([hanging, reading]);
const { bun, deno } = process.versions;
console.log(bun ? "bun" : deno ? "deno" : "node", process.version);
