import { type StartConversation, textOf } from "../conversation.ts";
import { published } from "../published.ts";

/** The part of its API that the benchmark uses. */
interface SandboxAgent {
  createSession(request: { agent: string; cwd: string }): Promise<{
    onEvent(
      listener: (event: { sender: string; payload: { method?: string; params?: unknown } }) => void,
    ): void;
    prompt(content: readonly { type: "text"; text: string }[]): Promise<unknown>;
  }>;
  dispose(): Promise<void>;
}

/** Uses the npm package `sandbox-agent`. */
export const publishedSandbox: StartConversation = async (baseUrl, onText) => {
  const { SandboxAgent } = await import(await published("sandbox-agent/dist/index.js"));
  const client: SandboxAgent = await SandboxAgent.connect({ baseUrl });
  const session = await client.createSession({ agent: "mock", cwd: "/" });
  session.onEvent(({ sender, payload }) => {
    if (sender === "agent" && payload.method === "session/update") onText(textOf(payload.params));
  });
  return {
    prompt: (text) => session.prompt([{ type: "text", text }]),
    async [Symbol.asyncDispose]() {
      await client.dispose();
    },
  };
};
