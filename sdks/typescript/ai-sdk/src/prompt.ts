import type { Attachment, SendMessage } from "@tombolo/session";
import type { FileUIPart, UIMessage } from "ai";

/** What a message of the chat says to an agent. */
export function promptOf({ parts }: UIMessage): SendMessage {
  const message = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  const attachments = parts.flatMap((part) => (part.type === "file" ? attachmentOf(part) : []));
  return attachments.length === 0 ? { message } : { message, attachments };
}

function attachmentOf({ url, mediaType, filename }: FileUIPart): Attachment {
  const [, isBase64, said] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url) ?? [];
  if (said === undefined) throw new TypeError("only files that are part of the message can be sent");
  const bytes = isBase64 === undefined ? new TextEncoder().encode(decodeURIComponent(said)) : bytesOf(said);
  if (mediaType.startsWith("image/")) return { type: "image", mimeType: mediaType, data: base64Of(bytes) };
  if (!/^text\/|[/+](json|xml|yaml|toml)$/.test(mediaType)) {
    throw new TypeError(`agents take texts and pictures, and not ${mediaType}`);
  }
  return { type: "text", name: filename ?? null, text: new TextDecoder().decode(bytes) };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
