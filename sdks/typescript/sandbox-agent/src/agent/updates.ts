import type {
  ContentPart,
  PermissionRequest,
  QuestionRequest,
  SessionUpdate,
  ToolCallState,
} from "./events.js";
import { type Fields, fields, list, text } from "./wire.js";

/** What an agent says in a session, in our words. */
export function updateOf(wire: unknown): SessionUpdate {
  const update = fields(wire);
  const name = text(update.sessionUpdate) ?? "";
  switch (name) {
    case "agent_message_chunk":
      return { type: "agentMessage", content: contentOf(update.content) };
    case "user_message_chunk":
      return { type: "userMessage", content: contentOf(update.content) };
    case "agent_thought_chunk":
      return { type: "thought", content: contentOf(update.content) };
    case "tool_call":
      return { type: "toolCall", call: callOf(update) };
    case "tool_call_update":
      return { type: "toolCallUpdate", call: callOf(update) };
    case "plan":
      return { type: "plan", steps: list(update.entries).map(stepOf) };
    case "available_commands_update":
      return { type: "commands", commands: list(update.availableCommands).map(commandOf) };
    case "current_mode_update":
      return { type: "mode", modeId: text(update.currentModeId) ?? "" };
    default:
      return { type: "other", name, raw: wire };
  }
}

/** What an agent asks before it does something, in our words. */
export function permissionOf(params: unknown): PermissionRequest {
  const { sessionId, toolCall, options } = fields(params);
  return {
    sessionId: text(sessionId) ?? "",
    call: callOf(fields(toolCall)),
    options: list(options).map((option) => {
      const { optionId, name, kind } = fields(option);
      return { id: text(optionId) ?? "", name: text(name) ?? "", kind: text(kind) ?? "" };
    }),
  };
}

/** What an agent asks a person, in our words. */
export function questionOf(params: unknown): QuestionRequest {
  const { sessionId, message, requestedSchema } = fields(params);
  return { sessionId: text(sessionId) ?? "", message: text(message) ?? "", schema: requestedSchema };
}

function contentOf(wire: unknown): ContentPart {
  const content = fields(wire);
  switch (content.type) {
    case "text":
      return { type: "text", text: text(content.text) ?? "" };
    case "image":
      return { type: "image", data: text(content.data) ?? "", mimeType: text(content.mimeType) ?? "" };
    case "resource_link":
      return { type: "link", uri: text(content.uri) ?? "", name: text(content.name) ?? "" };
    default:
      return { type: "other", raw: wire };
  }
}

/** What a prompt has, in the agent's words. */
export function promptOf(content: string | readonly ContentPart[]): readonly unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => {
    if (part.type === "other") return part.raw;
    return part.type === "link" ? { ...part, type: "resource_link" } : part;
  });
}

function callOf(wire: Fields): ToolCallState {
  return {
    callId: text(wire.toolCallId) ?? "",
    title: text(wire.title),
    kind: text(wire.kind),
    status: text(wire.status),
    input: wire.rawInput,
    output: wire.rawOutput,
    content: Array.isArray(wire.content) ? wire.content : undefined,
  };
}

function stepOf(wire: unknown): { text: string; status: string; priority: string } {
  const { content, status, priority } = fields(wire);
  return { text: text(content) ?? "", status: text(status) ?? "", priority: text(priority) ?? "" };
}

function commandOf(wire: unknown): { name: string; description: string } {
  const { name, description } = fields(wire);
  return { name: text(name) ?? "", description: text(description) ?? "" };
}
