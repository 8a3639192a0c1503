import { AcpHttpClient } from "@tombolo/acp-http-client";
import { type StartConversation, textOf } from "../conversation.ts";

/** Uses our `@tombolo/acp-http-client`. */
export const acp: StartConversation = async (baseUrl, onText) => {
  const client = new AcpHttpClient({ baseUrl, serverId: "acp", agent: "mock" });
  const reading = (async () => {
    for await (const event of client.events()) {
      if (event.type === "gap") throw new Error(`a gap: ${JSON.stringify(event)}`);
      if (event.type === "message" && "method" in event.message) onText(textOf(event.message.params));
    }
  })();
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const session = { cwd: "/", mcpServers: [] };
  const { sessionId } = await client.request<{ sessionId: string }>("session/new", session);
  return {
    prompt: (text) => client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    async [Symbol.asyncDispose]() {
      await client.close({ delete: true });
      await reading;
    },
  };
};
