/** One message, or those parts of it that are new or have changed. */
export interface Message {
  readonly id: string;
  readonly role: "user" | "assistant" | "system" | "other";
  /** Who wrote it, if a person or program other than the agent did. */
  readonly author?: string;
  readonly turnId?: string;
  /** The tool call of whose inner life it is part, such as that of an agent which the agent started. */
  readonly parentToolCallId?: string;
  /** Whether it is not among the last messages, of which a snapshot is made. In events only. */
  readonly earlier?: boolean;
  readonly parts: readonly MessagePart[];
}

/** One part of a message. A newer server may say more: expect a part that is none of these. */
export type MessagePart = { readonly id: string } & (
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | ({ readonly type: "toolCall" } & ToolCall)
  | ({ readonly type: "toolResult" } & ToolResult)
  | {
      readonly type: "file";
      readonly name: string | null;
      readonly mimeType: string | null;
      readonly uri: string | null;
      readonly text: string | null;
    }
  | {
      readonly type: "image";
      readonly mimeType: string;
      readonly data: string | null;
      readonly uri: string | null;
    }
  | { readonly type: "unparsed"; readonly raw: unknown; readonly error: string }
);

/** The agent uses a tool. */
export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  readonly kind: ToolKind;
  readonly title: string | null;
  /** What it is called with; `null` while that is not known. */
  readonly input: unknown;
  readonly status: "pending" | "running" | "completed" | "failed" | "cancelled" | "other";
}

/** What kind of tool it is, for people and pictures. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "ask"
  | "switchMode"
  | "mcp"
  | "agent"
  | "other";

/** What a tool gave. */
export interface ToolResult {
  readonly callId: string;
  readonly output: string;
  readonly diffs?: readonly Diff[];
  readonly exitCode?: number;
  readonly isError: boolean;
}

/** What was changed in one file. */
export interface Diff {
  readonly path: string;
  readonly unified?: string;
  readonly oldText?: string;
  readonly newText?: string;
}

/** More of one part of a message. */
export interface Delta {
  readonly messageId: string;
  readonly partId: string;
  readonly kind: "text" | "reasoning" | "toolOutput" | "other";
  readonly text: string;
}
