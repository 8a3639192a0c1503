import type { SessionClient } from "@tombolo/session";
import type { UIMessage } from "ai";

type Part = UIMessage["parts"][number];
type Tool = Extract<Part, { readonly toolCallId: string }>;
type Answered = Extract<Tool, { readonly state: "approval-responded" }>;

/**
 * Whether all approval requests of the last message are answered. Pass it to `useChat` as `sendAutomaticallyWhen`, so that
 * the answers are sent to the agent. Unlike the function of the AI SDK, it does not require that all other tools are
 * complete.
 */
export function approvalsAnswered({ messages }: { readonly messages: readonly UIMessage[] }): boolean {
  const tools = messages.at(-1)?.parts.filter(isTool) ?? [];
  return tools.some(isAnswered) && tools.every(({ state }) => state !== "approval-requested");
}

/** Sends the answers in a message to the agent. Returns the ids of the answered waits. */
export async function sendAnswers(
  client: SessionClient,
  message: UIMessage,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const answered = message.parts.filter(isTool).filter(isAnswered);
  for (const { approval } of answered) {
    try {
      const permission = approval.approved ? "once" : "reject";
      await client.waits.answer(approval.id, { permission }, { signal });
    } catch (error) {
      // Another client has answered first; an event brings that answer.
      if (!isConflict(error)) throw error;
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

function isConflict(error: unknown): boolean {
  return typeof error === "object" && error !== null && "status" in error && error.status === 409;
}
