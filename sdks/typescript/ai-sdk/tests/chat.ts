import { useChat } from "@ai-sdk/react";
import { approvalsAnswered, SessionChatTransport, type SessionChatTransportOptions } from "@tombolo/ai-sdk";
import type { SandboxAgentClient } from "@tombolo/sandbox-agent";
import type { UIMessage } from "ai";
import { type RenderedHook, renderHook } from "../../react/tests/render-hook.js";

export type Chat = ReturnType<typeof useChat>;

/** Renders a chat with its own session. */
export async function chat(
  client: SandboxAgentClient,
  id: string,
  { resume = false, ...options }: SessionChatTransportOptions & { readonly resume?: boolean } = {},
): Promise<RenderedHook<Chat>> {
  await client.sessions.create(id, { agent: "mock" });
  const transport = new SessionChatTransport(client, options);
  return renderHook(() => useChat({ id, transport, resume, sendAutomaticallyWhen: approvalsAnswered }));
}

export const isReady = ({ status, messages }: Chat) => status === "ready" && messages.length > 1;

export const partsOf = (message: UIMessage | undefined) =>
  message?.parts.filter(({ type }) => type !== "step-start");

export const textOf = (message: UIMessage | undefined) =>
  message?.parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("|");
