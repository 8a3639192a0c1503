import type { Message, SessionSnapshot } from "@tombolo/session";
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai";
import { TurnChunks } from "./turn-chunks.js";

/**
 * Converts the messages of a session to the initial messages of a chat. A running turn is left out, as `resume` of
 * `useChat` loads it.
 */
export async function toUIMessages(state: SessionSnapshot): Promise<UIMessage[]> {
  const messages: UIMessage[] = [];
  const turns = new Set([state.session.turnId]);
  for (const message of state.messages) {
    const { role, turnId } = message;
    if (role === "user") messages.push(userMessage(message));
    if (role !== "assistant" || turnId === undefined || turns.has(turnId)) continue;
    turns.add(turnId);
    messages.push(...(await turnMessages(state, turnId)));
  }
  return messages;
}

function userMessage({ id, parts, author }: Message): UIMessage {
  const texts = parts.flatMap((part) =>
    part.type === "text" ? { type: "text" as const, text: part.text } : [],
  );
  return { id, role: "user", metadata: { author: author ?? null }, parts: texts };
}

async function turnMessages(state: SessionSnapshot, turnId: string): Promise<readonly UIMessage[]> {
  const turn = new TurnChunks(turnId);
  const chunks: UIMessageChunk[] = [
    ...turn.start(state),
    ...turn.update(state),
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
