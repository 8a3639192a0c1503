import type {
  ContentPart,
  PermissionRequest,
  QuestionRequest,
  SessionUpdate,
  ToolCallState,
} from "./events.js";
import { asList, asObject, asString, type UntypedObject } from "./untyped.js";

/** Parses the `update` of a `session/update` notification. */
export function parseUpdate(wire: unknown): SessionUpdate {
  const update = asObject(wire);
  const name = asString(update.sessionUpdate) ?? "";
  switch (name) {
    case "agent_message_chunk":
      return { type: "agentMessage", content: parseContent(update.content) };
    case "user_message_chunk":
      return { type: "userMessage", content: parseContent(update.content) };
    case "agent_thought_chunk":
      return { type: "thought", content: parseContent(update.content) };
    case "tool_call":
      return { type: "toolCall", call: parseToolCall(update) };
    case "tool_call_update":
      return { type: "toolCallUpdate", call: parseToolCall(update) };
    case "plan":
      return { type: "plan", steps: asList(update.entries).map(parsePlanStep) };
    case "available_commands_update":
      return { type: "commands", commands: asList(update.availableCommands).map(parseCommand) };
    case "current_mode_update":
      return { type: "mode", modeId: asString(update.currentModeId) ?? "" };
    default:
      return { type: "other", name, raw: wire };
  }
}

/** Parses the params of `session/request_permission`. */
export function parsePermissionRequest(params: unknown): PermissionRequest {
  const { sessionId, toolCall, options } = asObject(params);
  return {
    sessionId: asString(sessionId) ?? "",
    call: parseToolCall(asObject(toolCall)),
    options: asList(options).map((option) => {
      const { optionId, name, kind } = asObject(option);
      return { id: asString(optionId) ?? "", name: asString(name) ?? "", kind: asString(kind) ?? "" };
    }),
  };
}

/** Parses the params of `elicitation/create`. */
export function parseQuestionRequest(params: unknown): QuestionRequest {
  const { sessionId, message, requestedSchema } = asObject(params);
  return { sessionId: asString(sessionId) ?? "", message: asString(message) ?? "", schema: requestedSchema };
}

function parseContent(wire: unknown): ContentPart {
  const content = asObject(wire);
  switch (content.type) {
    case "text":
      return { type: "text", text: asString(content.text) ?? "" };
    case "image":
      return {
        type: "image",
        data: asString(content.data) ?? "",
        mimeType: asString(content.mimeType) ?? "",
      };
    case "resource_link":
      return { type: "link", uri: asString(content.uri) ?? "", name: asString(content.name) ?? "" };
    default:
      return { type: "other", raw: wire };
  }
}

/** Converts the content of a prompt to ACP content blocks. */
export function toPrompt(content: string | readonly ContentPart[]): readonly unknown[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((part) => {
    if (part.type === "other") return part.raw;
    return part.type === "link" ? { ...part, type: "resource_link" } : part;
  });
}

function parseToolCall(wire: UntypedObject): ToolCallState {
  return {
    callId: asString(wire.toolCallId) ?? "",
    title: asString(wire.title),
    kind: asString(wire.kind),
    status: asString(wire.status),
    input: wire.rawInput,
    output: wire.rawOutput,
    content: Array.isArray(wire.content) ? wire.content : undefined,
  };
}

function parsePlanStep(wire: unknown): { text: string; status: string; priority: string } {
  const { content, status, priority } = asObject(wire);
  return {
    text: asString(content) ?? "",
    status: asString(status) ?? "",
    priority: asString(priority) ?? "",
  };
}

function parseCommand(wire: unknown): { name: string; description: string } {
  const { name, description } = asObject(wire);
  return { name: asString(name) ?? "", description: asString(description) ?? "" };
}
