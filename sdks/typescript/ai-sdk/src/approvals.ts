import type { SessionClient } from "@tombolo/session";
import type { UIMessage } from "ai";

type Part = UIMessage["parts"][number];
type Tool = Extract<Part, { readonly toolCallId: string }>;
type Answered = Extract<Tool, { readonly state: "approval-responded" }>;

/**
 * Whether everything that the agent asked for in the last message was answered and is still to be told to it: pass it to
 * `useChat` as `sendAutomaticallyWhen`. Other tools may still run, unlike with the function of the AI SDK.
 */
export function approvalsAnswered({ messages }: { readonly messages: readonly UIMessage[] }): boolean {
  const tools = messages.at(-1)?.parts.filter(isTool) ?? [];
  return tools.some(isAnswered) && tools.every(({ state }) => state !== "approval-requested");
}

/** Tells the agent what was answered in a message; which waits these are. */
export async function answer(
  client: SessionClient,
  message: UIMessage,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const answered = message.parts.filter(isTool).filter(isAnswered);
  for (const { approval } of answered) {
    try {
      const reply = approval.approved ? "once" : "reject";
      await client.waits.answer(approval.id, { permission: reply }, { signal });
    } catch (error) {
      // Somebody else was faster: the events tell how it was settled.
      if (!isSettled(error)) throw error;
    }
  }
  return answered.map(({ approval }) => approval.id);
}

function isTool(part: Part): part is Tool {
  return "toolCallId" in part;
}

function isAnswered(tool: Tool): tool is Answered {
  return tool.state === "approval-responded";
}

function isSettled(error: unknown): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === 409;
}
