// The official SDK over a stream of ours: what a client of ours needs is about forty lines.
import assert from "node:assert/strict";
import { client, methods } from "@agentclientprotocol/sdk";

const [baseUrl] = process.argv.slice(2);
const url = `${baseUrl}/v1/acp/official`;

/** Messages as the SDK wants them: requests are answered on the stream, in order, like everything else. */
function httpStream() {
  const abort = new AbortController();
  let listening;
  const readable = new ReadableStream({
    async start(controller) {
      await new Promise((resolve) => { listening = resolve; });
      const response = await fetch(url, { signal: abort.signal });
      assert.equal(response.status, 200);
      let text = "";
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const frames = text.split("\n\n");
        text = frames.pop();
        for (const frame of frames) {
          const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
          if (fields.event === "message") controller.enqueue(JSON.parse(fields.data));
        }
      }
    },
    cancel: () => abort.abort(),
  });
  const writable = new WritableStream({
    async write(message) {
      const headers = { "content-type": "application/json", prefer: "respond-async" };
      const response = await fetch(`${url}?agent=mock`, { method: "POST", headers, body: JSON.stringify(message) });
      assert.equal(response.status, 202);
      listening();
    },
  });
  return { readable, writable };
}

const texts = [];
const app = client({ name: "tombolo-test" })
  .onNotification(methods.client.session.update, ({ params: { update } }) => {
    if (update.sessionUpdate === "agent_message_chunk") texts.push(update.content.text);
  })
  .onRequest(methods.client.session.requestPermission, ({ params: { options } }) => ({
    outcome: { outcome: "selected", optionId: options[1].optionId },
  }));

await app.connectWith(httpStream(), async (agent) => {
  const { agentInfo } = await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
  assert.equal(agentInfo.name, "mock");
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
  const prompt = [{ type: "text", text: "hello\n/permission\n/chunks 3" }];
  const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt });
  assert.equal(stopReason, "end_turn");
  assert.deepEqual(texts, ["hello", "permission answered: reject", "chunk 1 ", "chunk 2 ", "chunk 3 "]);
});
process.exit(0);
