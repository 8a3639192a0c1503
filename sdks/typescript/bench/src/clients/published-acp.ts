import { AcpHttpClient } from "published-acp-http-client";
import { type StartConversation, textOf } from "../conversation.ts";

/** Uses the npm package `acp-http-client`. */
export const publishedAcp: StartConversation = async (baseUrl, onText) => {
  const client = new AcpHttpClient({
    baseUrl,
    transport: { path: "/v1/acp/published", bootstrapQuery: { agent: "mock" } },
    client: {
      sessionUpdate: async (params) => onText(textOf(params)),
      requestPermission: async () => ({ outcome: { outcome: "cancelled" } }),
    },
  });
  await client.initialize();
  const { sessionId } = await client.newSession({ cwd: "/", mcpServers: [] });
  return {
    prompt: (text) => client.prompt({ sessionId, prompt: [{ type: "text", text }] }),
    async [Symbol.asyncDispose]() {
      await client.disconnect();
    },
  };
};
