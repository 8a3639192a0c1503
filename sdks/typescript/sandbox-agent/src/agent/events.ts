/** One piece of content in a message. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | { readonly type: "link"; readonly uri: string; readonly name: string }
  /** Any other content, unchanged. */
  | { readonly type: "other"; readonly raw: unknown };

/** A tool call; in a `toolCallUpdate`, only the fields that changed. */
export interface ToolCallState {
  readonly callId: string;
  readonly title?: string | undefined;
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  /** Texts, diffs and terminals, unchanged. */
  readonly content?: readonly unknown[] | undefined;
}

/** An update of a session by the agent. */
export type SessionUpdate =
  | { readonly type: "agentMessage" | "userMessage" | "thought"; readonly content: ContentPart }
  | { readonly type: "toolCall" | "toolCallUpdate"; readonly call: ToolCallState }
  | { readonly type: "plan"; readonly steps: readonly PlanStep[] }
  | { readonly type: "commands"; readonly commands: readonly AgentCommand[] }
  | { readonly type: "mode"; readonly modeId: string }
  /** Any other update, unchanged. */
  | { readonly type: "other"; readonly name: string; readonly raw: unknown };

/** One step of a plan. */
export interface PlanStep {
  readonly text: string;
  readonly status: string;
  readonly priority: string;
}

/** A slash command that the agent offers, such as `/review`. */
export interface AgentCommand {
  readonly name: string;
  readonly description: string;
}

/** The agent sent an update of a session. */
export interface SessionUpdateEvent {
  readonly type: "sessionUpdate";
  readonly sessionId: string;
  readonly update: SessionUpdate;
}

/** A session has ended. */
export interface SessionEndedEvent {
  readonly type: "sessionEnded";
  readonly sessionId: string;
  /** `terminateSession` was called; or the agent's process exited; or its instance was deleted. */
  readonly reason: "terminated" | "agentExited" | "agentGone";
  /** Exit code of the agent; `null` if a signal ended it. */
  readonly code?: number | null;
  /** The signal that ended the agent. */
  readonly signal?: number | null;
  /** The end of what the agent wrote to standard error. */
  readonly stderrTail?: string;
}

/** The agent wrote a line that is not a valid message. */
export interface ParseErrorEvent {
  readonly type: "parseError";
  /** The line, or its beginning. */
  readonly text: string;
  /** Length of the whole line. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** The server has evicted events that were not read yet. Load the sessions again. */
export interface GapEvent {
  readonly type: "gap";
  readonly oldest: number;
  readonly newest: number;
}

/** An event of the connected agent. */
export type AgentEvent = SessionUpdateEvent | SessionEndedEvent | ParseErrorEvent | GapEvent;

/** The agent asks for permission to use a tool. */
export interface PermissionRequest {
  readonly sessionId: string;
  /** The tool call that it wants to make. */
  readonly call: ToolCallState;
  /** The possible answers. */
  readonly options: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
}

/** Answers a permission request with the `id` of an option. `undefined` means that the turn was cancelled. */
export type PermissionHandler = (
  request: PermissionRequest,
) => Promise<string | undefined> | string | undefined;

/** The agent asks the user a question. */
export interface QuestionRequest {
  readonly sessionId: string;
  readonly message: string;
  /** JSON Schema of the answer: an object with a property for each field of the question. */
  readonly schema: unknown;
}

/** Answers a question with a value for each property of its schema. `undefined` means that the user did not answer. */
export type QuestionHandler = (
  request: QuestionRequest,
) => Promise<Readonly<Record<string, unknown>> | undefined> | Readonly<Record<string, unknown>> | undefined;

/** Handlers for the requests of the agent. */
export interface AgentRequestHandlers {
  /** Answers permission requests. Without it, each is answered as cancelled. */
  readonly onPermission?: PermissionHandler | undefined;
  /** Answers questions. Without it, the client announces that it does not support questions. */
  readonly onQuestion?: QuestionHandler | undefined;
}
