import type { Message, MessageDelta, MessagePart, SessionEvent } from "./types.js";

/**
 * Applies an event that was stored at `time` to the messages. Returns the same array if the event does not affect them.
 */
export function applyToMessages(
  messages: readonly Message[],
  event: SessionEvent,
  time: string,
): readonly Message[] {
  if ("message" in event) return applyMessage(messages, event.message, time);
  if ("messageDelta" in event) return applyDelta(messages, event.messageDelta, time);
  return messages;
}

function applyMessage(messages: readonly Message[], update: Message, time: string): readonly Message[] {
  const index = lastIndexOf(messages, update.id);
  const known = messages[index];
  if (known !== undefined) return messages.with(index, mergeMessage(known, update, time));
  // An update of a message that was trimmed from the state must not append it at the end.
  return update.olderThanSnapshot ? messages : [...messages, { ...update, createdAt: time, updatedAt: time }];
}

function mergeMessage(known: Message, update: Message, time: string): Message {
  // An update may omit these fields; then the known values still apply.
  const author = update.author ?? known.author;
  const turnId = update.turnId ?? known.turnId;
  const parentToolCallId = update.parentToolCallId ?? known.parentToolCallId;
  return {
    id: known.id,
    role: update.role,
    ...(author == null ? {} : { author }),
    ...(turnId == null ? {} : { turnId }),
    ...(parentToolCallId == null ? {} : { parentToolCallId }),
    ...(known.createdAt == null ? {} : { createdAt: known.createdAt }),
    updatedAt: time,
    parts: update.parts.reduce(setPart, known.parts),
  };
}

function setPart(parts: readonly MessagePart[], part: MessagePart): readonly MessagePart[] {
  const index = parts.findIndex(({ id }) => id === part.id);
  return index < 0 ? [...parts, part] : parts.with(index, part);
}

function applyDelta(messages: readonly Message[], delta: MessageDelta, time: string): readonly Message[] {
  const index = lastIndexOf(messages, delta.messageId);
  const message = messages[index];
  // The server sends a message before its deltas. A delta of an unknown message has nothing to extend.
  if (message === undefined) return messages;
  const known = message.parts.find(({ id }) => id === delta.partId);
  const parts = setPart(message.parts, appendText(known ?? emptyPart(delta), delta.text));
  return messages.with(index, { ...message, parts, updatedAt: time });
}

function emptyPart({ partId, kind }: MessageDelta): MessagePart {
  switch (kind) {
    case "reasoning":
      return { id: partId, type: "reasoning", text: "" };
    case "toolOutput":
      // The id of a tool result's part is the id of its call.
      return { id: partId, type: "toolResult", callId: partId, output: "", isError: false };
    case "text":
    case "other":
      return { id: partId, type: "text", text: "" };
    default:
      kind satisfies never;
      return { id: partId, type: "text", text: "" }; // A newer server may send other kinds.
  }
}

function appendText(part: MessagePart, text: string): MessagePart {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text: part.text + text };
    case "toolResult":
      return { ...part, output: part.output + text };
    default:
      return part;
  }
}

/** The index of a message, or -1. Searches from the end, as events mostly concern the last message. */
function lastIndexOf(messages: readonly Message[], id: string): number {
  return messages.findLastIndex((message) => message.id === id);
}
