import type { PermissionRequest, ToolCall, ToolResult } from "@tombolo/session";
import type { UIMessageChunk } from "ai";

/** What is known of a tool call, and what was said of it. */
interface Tool {
  call: ToolCall;
  result?: ToolResult;
  /** The input that was said, as JSON. */
  input?: string;
  /** The output that was said, as JSON. */
  output?: string;
  over: boolean;
}

/** All tools are those of the agent: it runs them, and the page does not know them. */
const OF_THE_AGENT = { dynamic: true, providerExecuted: true } as const;

/** Why there is no result, where the agent gives no reason. */
const WITHOUT_WORDS: Readonly<Partial<Record<ToolCall["status"], string>>> = {
  failed: "it has failed",
  cancelled: "it was not allowed, or was interrupted",
};

/** Says tool calls and what they give as chunks. */
export class Tools {
  readonly #tools = new Map<string, Tool>();

  /** A call as it is now. */
  *call(call: ToolCall): Generator<UIMessageChunk> {
    const tool = this.#tools.get(call.callId);
    if (tool === undefined) {
      this.#tools.set(call.callId, { call, over: false });
      const { callId: toolCallId, name: toolName } = call;
      yield { type: "tool-input-start", toolCallId, toolName, ...titleOf(call), ...OF_THE_AGENT };
    } else {
      tool.call = call;
    }
    yield* this.#catchUp(call.callId);
  }

  /** What a call has given so far. */
  *result(result: ToolResult): Generator<UIMessageChunk> {
    const tool = this.#tools.get(result.callId);
    if (tool === undefined) return;
    tool.result = result;
    yield* this.#catchUp(result.callId);
  }

  /** The agent asks before it makes a call; `false` if nobody knows of which. */
  *ask({
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
    yield* this.call(known ?? { callId, name, kind, title, input, status: "pending" });
    yield* this.#sayInput(callId, known?.input ?? input);
    const why = reason === null ? {} : { reason };
    yield { type: "tool-approval-request", approvalId: id, toolCallId: callId, ...why };
    return true;
  }

  /** A call is not made, as it was not allowed. */
  *deny(toolCallId: string): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    if (tool === undefined || tool.over) return;
    tool.over = true;
    yield { type: "tool-output-denied", toolCallId };
  }

  /** Nothing more will be given. */
  *end(): Generator<UIMessageChunk> {
    for (const [toolCallId, tool] of this.#tools) {
      if (!tool.over) yield* this.#finish(toolCallId, tool);
    }
  }

  *#catchUp(toolCallId: string): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    if (tool === undefined || tool.over) return;
    const { call, result } = tool;
    if (call.input != null || call.status !== "pending") yield* this.#sayInput(toolCallId, call.input);
    if (result === undefined) return;
    const isOver = call.status !== "pending" && call.status !== "running";
    yield* isOver ? this.#finish(toolCallId, tool) : this.#sayOutput(toolCallId, tool, result);
  }

  *#sayInput(toolCallId: string, input: unknown): Generator<UIMessageChunk> {
    const tool = this.#tools.get(toolCallId);
    const said = JSON.stringify(input ?? null);
    if (tool === undefined || tool.input === said) return;
    tool.input = said;
    const { name: toolName } = tool.call;
    yield {
      type: "tool-input-available",
      toolCallId,
      toolName,
      input,
      ...titleOf(tool.call),
      ...OF_THE_AGENT,
    };
  }

  *#sayOutput(toolCallId: string, tool: Tool, result: ToolResult): Generator<UIMessageChunk> {
    const said = JSON.stringify(outputOf(result));
    if (tool.output === said || tool.input === undefined) return;
    tool.output = said;
    const output = outputOf(result);
    yield { type: "tool-output-available", toolCallId, output, preliminary: true, ...OF_THE_AGENT };
  }

  *#finish(toolCallId: string, tool: Tool): Generator<UIMessageChunk> {
    const { call, result } = tool;
    yield* this.#sayInput(toolCallId, call.input);
    tool.over = true;
    if (call.status === "completed" && result?.isError !== true) {
      const output = result === undefined ? {} : outputOf(result);
      yield { type: "tool-output-available", toolCallId, output, ...OF_THE_AGENT };
    } else {
      const errorText = result?.output || (WITHOUT_WORDS[call.status] ?? "nobody said what came of it");
      yield { type: "tool-output-error", toolCallId, errorText, ...OF_THE_AGENT };
    }
  }
}

function titleOf({ title }: ToolCall): { readonly title?: string } {
  return title === null ? {} : { title };
}

/** What a tool gave, without what the AI SDK says in its own way. */
function outputOf({ callId: _, isError: __, ...output }: ToolResult): Omit<ToolResult, "callId" | "isError"> {
  return output;
}
