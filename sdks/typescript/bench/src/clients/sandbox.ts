import { SandboxAgentClient } from "@tombolo/sandbox-agent";
import type { StartConversation } from "../conversation.ts";

/** Uses our `@tombolo/sandbox-agent`. */
export const sandbox: StartConversation = async (baseUrl, onText) => {
  const client = new SandboxAgentClient({ baseUrl, agent: "mock" });
  const reading = (async () => {
    for await (const event of client.events()) {
      if (event.type !== "sessionUpdate") throw new Error(`no update: ${JSON.stringify(event)}`);
      const { update } = event;
      if (update.type === "agentMessage" && update.content.type === "text") onText(update.content.text);
    }
  })();
  const { sessionId } = await client.newSession({ directory: "/" });
  return {
    prompt: (text) => client.prompt(sessionId, text),
    async [Symbol.asyncDispose]() {
      await client.disconnect();
      await reading;
    },
  };
};
