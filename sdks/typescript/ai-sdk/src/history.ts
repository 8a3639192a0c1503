import type { Message, SessionSnapshot } from "@tombolo/session";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { Turn } from "./turn.js";

/**
 * What was said in a session before, as the first messages of a chat. A turn that runs is left out: `resume` of `useChat`
 * tells all of it.
 */
export async function messagesOf(state: SessionSnapshot): Promise<UIMessage[]> {
  const shown: UIMessage[] = [];
  const turns = new Set([state.session.turnId]);
  for (const message of state.messages) {
    const { role, turnId } = message;
    if (role === "user") shown.push(ownOf(message));
    if (role !== "assistant" || turnId === undefined || turns.has(turnId)) continue;
    turns.add(turnId);
    shown.push(...(await turnOf(state, turnId)));
  }
  return shown;
}

function ownOf({ id, parts, author }: Message): UIMessage {
  const texts = parts.flatMap((part) =>
    part.type === "text" ? { type: "text" as const, text: part.text } : [],
  );
  return { id, role: "user", metadata: { author: author ?? null }, parts: texts };
}

async function turnOf(state: SessionSnapshot, turnId: string): Promise<readonly UIMessage[]> {
  const turn = new Turn(turnId);
  const chunks: UIMessageChunk[] = [
    ...turn.begin(state),
    ...turn.take(state),
    ...turn.end({ turnId, reason: "completed", usage: null }, ""),
  ];
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last: UIMessage | undefined;
  for await (const message of readUIMessageStream({ stream })) last = message;
  return last === undefined ? [] : [last];
}
