/** Something in a message. */
export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | { readonly type: "link"; readonly uri: string; readonly name: string }
  /** Anything else, as the agent said it. */
  | { readonly type: "other"; readonly raw: unknown };

/** A tool call, or what is new about one. */
export interface ToolCallState {
  readonly callId: string;
  readonly title?: string | undefined;
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
  readonly input?: unknown;
  readonly output?: unknown;
  /** What it shows: texts, diffs, terminals, as the agent said it. */
  readonly content?: readonly unknown[] | undefined;
}

/** What an agent says in a session. */
export type SessionUpdate =
  | { readonly type: "agentMessage" | "userMessage" | "thought"; readonly content: ContentPart }
  | { readonly type: "toolCall" | "toolCallUpdate"; readonly call: ToolCallState }
  | { readonly type: "plan"; readonly steps: readonly PlanStep[] }
  | { readonly type: "commands"; readonly commands: readonly AgentCommand[] }
  | { readonly type: "mode"; readonly modeId: string }
  /** Anything else: its name, and what was said. */
  | { readonly type: "other"; readonly name: string; readonly raw: unknown };

/** One step of a plan. */
export interface PlanStep {
  readonly text: string;
  readonly status: string;
  readonly priority: string;
}

/** Something that a prompt may begin with, such as `/review`. */
export interface AgentCommand {
  readonly name: string;
  readonly description: string;
}

/** The agent said something. */
export interface SessionUpdateEvent {
  readonly type: "sessionUpdate";
  readonly sessionId: string;
  readonly update: SessionUpdate;
}

/** A session is over. */
export interface SessionEndedEvent {
  readonly type: "sessionEnded";
  readonly sessionId: string;
  /** Somebody terminated it; or the agent's process ended; or the server no longer has it. */
  readonly reason: "terminated" | "agentExited" | "agentGone";
  /** The exit code of the agent, unless a signal ended it. */
  readonly code?: number | null;
  /** The signal that ended the agent. */
  readonly signal?: number | null;
  /** The last that the agent wrote to standard error. */
  readonly stderrTail?: string;
}

/** The agent said something that nobody understands. */
export interface ParseErrorEvent {
  readonly type: "parseError";
  /** What it said, or the start of it. */
  readonly text: string;
  /** How long it was. */
  readonly bytes: number;
  readonly truncated: boolean;
}

/** Some of what the agent said is no longer kept, and was not seen. Load sessions anew. */
export interface GapEvent {
  readonly type: "gap";
  readonly oldest: number;
  readonly newest: number;
}

/** What can be read from the agent that a client is connected to. */
export type AgentEvent = SessionUpdateEvent | SessionEndedEvent | ParseErrorEvent | GapEvent;

/** The agent asks before it does something. */
export interface PermissionRequest {
  readonly sessionId: string;
  /** What it would do. */
  readonly call: ToolCallState;
  /** What can be answered. */
  readonly options: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
}

/** Answers a permission: the `id` of one of its options, or nothing, which the agent takes for a cancelled turn. */
export type PermissionHandler = (
  request: PermissionRequest,
) => Promise<string | undefined> | string | undefined;

/** The agent asks a person something. */
export interface QuestionRequest {
  readonly sessionId: string;
  readonly message: string;
  /** What can be answered: a JSON Schema of an object, with a property for each thing that is asked. */
  readonly schema: unknown;
}

/** Answers a question: a value for each property of its schema, or nothing, which the agent takes for no answer. */
export type QuestionHandler = (
  request: QuestionRequest,
) => Promise<Readonly<Record<string, unknown>> | undefined> | Readonly<Record<string, unknown>> | undefined;

/** Who answers what the agent asks. */
export interface Handlers {
  /** Answers what the agent asks before it does something. If left out, each is answered as cancelled. */
  readonly onPermission?: PermissionHandler | undefined;
  /** Answers what the agent asks a person. If left out, the agent is told that nobody can be asked. */
  readonly onQuestion?: QuestionHandler | undefined;
}
