import type { PermissionRequest, ToolCall, ToolResult } from "@tombolo/session";
import type { UIMessageChunk } from "ai";

/** A tool call, and what was sent of it. */
interface TrackedTool {
  call: ToolCall;
  result?: ToolResult;
  /** The input that was sent, as JSON. */
  input?: string;
  /** The output that was sent, as JSON. */
  output?: string;
  over: boolean;
}

/** The agent runs all tools, and the page has no types for them. */
const AGENT_TOOL = { dynamic: true, providerExecuted: true } as const;

/** Error texts for calls without a result of the agent. */
const DEFAULT_ERRORS: Readonly<Partial<Record<ToolCall["status"], string>>> = {
  failed: "the tool failed",
  cancelled: "the tool call was rejected or interrupted",
};

/** Converts tool calls and their results to chunks. */
export class ToolChunks {
  readonly #tools = new Map<string, TrackedTool>();

  /** Chunks for what is new in a call. */
  *updateCall(call: ToolCall): Generator<UIMessageChunk> {
    const tool = this.#tools.get(call.callId);
    if (tool === undefined) {
      this.#tools.set(call.callId, { call, over: false });
      const { callId: toolCallId, name: toolName } = call;
      yield { type: "tool-input-start", toolCallId, toolName, ...titleOf(call), ...AGENT_TOOL };
    } else {
      tool.call = call;
    }
    yield* this.#sendUpdates(call.callId);
  }

  /** Chunks for what is new in a result. */
  *updateResult(result: ToolResult): Generator<UIMessageChunk> {
    const tool = this.#tools.get(result.callId);
    if (tool === undefined) return;
    tool.result = result;
    yield* this.#sendUpdates(result.callId);
  }

  /** Chunks for a permission request. Returns false if it does not belong to a tool call. */
  *requestApproval({
    id,
    callId,
    tool: name,
    kind,
    title,
    input,
    reason,
  }: PermissionRequest): Generator<UIMessageChunk, boolean> {
    if (callId === null) return false;
    const known = this.#tools.get(callId)?.call;
    yield* this.updateCall(known ?? { callId, name, kind, title, input, status: "pending" });
    yield* this.#sendInput(callId, known?.input ?? input);
    const optionalReason = reason === null ? {} : { reason };
    yield { type: "tool-approval-request", approvalId: id, toolCallId: callId, ...optionalReason };
    return true;
  }

  /** Chunks for a call that was rejected. */
  *deny(toolCallId: string): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    if (tool === undefined || tool.over) return;
    tool.over = true;
    yield { type: "tool-output-denied", toolCallId };
  }

  /** Ends all open calls. */
  *end(): Generator<UIMessageChunk> {
    for (const [toolCallId, tool] of this.#tools) {
      if (!tool.over) yield* this.#finish(toolCallId, tool);
    }
  }

  *#sendUpdates(toolCallId: string): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    if (tool === undefined || tool.over) return;
    const { call, result } = tool;
    if (call.input != null || call.status !== "pending") yield* this.#sendInput(toolCallId, call.input);
    if (result === undefined) return;
    const isOver = call.status !== "pending" && call.status !== "running";
    yield* isOver ? this.#finish(toolCallId, tool) : this.#sendOutput(toolCallId, tool, result);
  }

  *#sendInput(toolCallId: string, input: unknown): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    const json = JSON.stringify(input ?? null);
    if (tool === undefined || tool.input === json) return;
    tool.input = json;
    const { name: toolName } = tool.call;
    yield {
      type: "tool-input-available",
      toolCallId,
      toolName,
      input,
      ...titleOf(tool.call),
      ...AGENT_TOOL,
    };
  }

  *#sendOutput(toolCallId: string, tool: TrackedTool, result: ToolResult): Generator<UIMessageChunk> {
    const json = JSON.stringify(outputOf(result));
    if (tool.output === json || tool.input === undefined) return;
    tool.output = json;
    const output = outputOf(result);
    yield { type: "tool-output-available", toolCallId, output, preliminary: true, ...AGENT_TOOL };
  }

  *#finish(toolCallId: string, tool: TrackedTool): Generator<UIMessageChunk> {
    const { call, result } = tool;
    yield* this.#sendInput(toolCallId, call.input);
    tool.over = true;
    if (call.status === "completed" && result?.isError !== true) {
      const output = result === undefined ? {} : outputOf(result);
      yield { type: "tool-output-available", toolCallId, output, ...AGENT_TOOL };
    } else {
      const errorText = result?.output || (DEFAULT_ERRORS[call.status] ?? "the agent reported no result");
      yield { type: "tool-output-error", toolCallId, errorText, ...AGENT_TOOL };
    }
  }
}

function titleOf({ title }: ToolCall): { readonly title?: string } {
  return title === null ? {} : { title };
}

/** A result without the fields that the AI SDK represents differently. */
function outputOf({ callId: _, isError: __, ...output }: ToolResult): Omit<ToolResult, "callId" | "isError"> {
  return output;
}
