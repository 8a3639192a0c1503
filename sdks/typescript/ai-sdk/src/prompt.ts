import type { MessageAttachment, SendMessageRequest } from "@tombolo/session";
import type { FileUIPart, UIMessage } from "ai";

/** Converts a chat message to a message for the agent. */
export function toPrompt({ parts }: UIMessage): SendMessageRequest {
  const message = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  const attachments = parts.flatMap((part) => (part.type === "file" ? toAttachment(part) : []));
  return attachments.length === 0 ? { message } : { message, attachments };
}

function toAttachment({ url, mediaType, filename }: FileUIPart): MessageAttachment {
  const [, isBase64, data] = /^data:[^,]*?(;base64)?,(.*)$/s.exec(url) ?? [];
  if (data === undefined) throw new TypeError("a file must be a data URL: the agent cannot load other URLs");
  const bytes =
    isBase64 === undefined ? new TextEncoder().encode(decodeURIComponent(data)) : fromBase64(data);
  if (mediaType.startsWith("image/")) return { type: "image", mimeType: mediaType, data: toBase64(bytes) };
  if (!/^text\/|[/+](json|xml|yaml|toml)$/.test(mediaType)) {
    throw new TypeError(`agents accept text and image files, but not ${mediaType}`);
  }
  return { type: "text", name: filename ?? null, text: new TextDecoder().decode(bytes) };
}

function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
