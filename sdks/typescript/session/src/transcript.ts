import type { SessionEvent } from "./types/event.js";
import type { Delta, Message, MessagePart } from "./types/message.js";

/** The messages after an event; the same array if it changes none. */
export function foldMessages(messages: readonly Message[], event: SessionEvent): readonly Message[] {
  if ("message" in event) return merge(messages, event.message);
  if ("messageDelta" in event) return extend(messages, event.messageDelta);
  return messages;
}

function merge(messages: readonly Message[], told: Message): readonly Message[] {
  const at = placeOf(messages, told.id);
  const known = messages[at];
  if (known !== undefined) return messages.with(at, merged(known, told));
  // What was said before the messages that are here is not said now.
  return told.earlier ? messages : [...messages, told];
}

function merged(known: Message, told: Message): Message {
  // Who tells a message anew need not say again by whom it is and where it belongs.
  const author = told.author ?? known.author;
  const turnId = told.turnId ?? known.turnId;
  const parentToolCallId = told.parentToolCallId ?? known.parentToolCallId;
  return {
    id: known.id,
    role: told.role,
    ...(author === undefined ? {} : { author }),
    ...(turnId === undefined ? {} : { turnId }),
    ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
    parts: told.parts.reduce(put, known.parts),
  };
}

function put(parts: readonly MessagePart[], part: MessagePart): readonly MessagePart[] {
  const at = parts.findIndex(({ id }) => id === part.id);
  return at < 0 ? [...parts, part] : parts.with(at, part);
}

function extend(messages: readonly Message[], delta: Delta): readonly Message[] {
  const at = placeOf(messages, delta.messageId);
  const message = messages[at];
  // The message of a delta is told before it; one that is not is of a peer that we do not know well.
  if (message === undefined) return messages;
  const known = message.parts.find(({ id }) => id === delta.partId);
  const parts = put(message.parts, grown(known ?? begun(delta), delta.text));
  return messages.with(at, { ...message, parts });
}

function begun({ partId, kind }: Delta): MessagePart {
  switch (kind) {
    case "reasoning":
      return { id: partId, type: "reasoning", text: "" };
    case "toolOutput":
      // The part of a result is named after its call.
      return { id: partId, type: "toolResult", callId: partId, output: "", isError: false };
    case "text":
    case "other":
      return { id: partId, type: "text", text: "" };
    default:
      kind satisfies never;
      return { id: partId, type: "text", text: "" };
  }
}

function grown(part: MessagePart, text: string): MessagePart {
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

/** Where a message is; it is looked for from the end, as what changes is mostly the last one. */
function placeOf(messages: readonly Message[], id: string): number {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    if (messages[at]?.id === id) return at;
  }
  return -1;
}
