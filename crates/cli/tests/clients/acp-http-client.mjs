// The published client of the same contract, as it comes.
import assert from "node:assert/strict";
import { AcpHttpClient } from "acp-http-client";

const [baseUrl] = process.argv.slice(2);
const texts = [];
const client = new AcpHttpClient({
  baseUrl,
  transport: { path: "/v1/acp/published", bootstrapQuery: { agent: "mock" } },
  client: {
    sessionUpdate: async ({ update }) => {
      if (update.sessionUpdate === "agent_message_chunk") texts.push(update.content.text);
    },
    requestPermission: async ({ options }) => ({
      outcome: { outcome: "selected", optionId: options[0].optionId },
    }),
  },
});

const { agentInfo } = await client.initialize();
assert.equal(agentInfo.name, "mock");
const { sessionId } = await client.newSession({ cwd: "/", mcpServers: [] });
const prompt = [{ type: "text", text: "hello\n/permission\n/chunks 3" }];
const { stopReason } = await client.prompt({ sessionId, prompt });
assert.equal(stopReason, "end_turn");
// The answer of the POST may overtake the last updates on the stream: this client does not wait for them.
while (texts.length < 5) await new Promise(setImmediate);
assert.deepEqual(texts, ["hello", "permission answered: allow", "chunk 1 ", "chunk 2 ", "chunk 3 "]);
await client.disconnect();
