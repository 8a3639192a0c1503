import type { AgentError, Command, InputState, Plan, Usage } from "./event.js";
import type { Message } from "./message.js";
import type { Wait } from "./wait.js";

/** What all events of a session up to one come to. */
export interface SessionSnapshot {
  /** The place of the last event that it covers. */
  readonly seq: number;
  readonly session: Session;
  /** The last messages, with what there is of one that is being said. */
  readonly messages: readonly Message[];
  /** Whether there are messages before these. */
  readonly hasEarlier: boolean;
  /** What waits for a person. */
  readonly waits: readonly Wait[];
  /** What waits for its turn. */
  readonly inputs: readonly SessionInput[];
  readonly plan: Plan;
  readonly commands: readonly Command[];
}

/** One conversation with an agent. */
export interface Session {
  readonly id: string;
  readonly agent: string;
  readonly agentSessionId: string | null;
  readonly title: string | null;
  readonly agentMode: string;
  readonly permissionMode: "default" | "plan" | "bypass";
  readonly model: string | null;
  readonly variant: string | null;
  readonly directory: string;
  readonly state: SessionState;
  /** The turn that runs. */
  readonly turnId: string | null;
  readonly queued: number;
  readonly waits: number;
  /** What all turns took together. */
  readonly usage: Usage;
  /** The last error, if the last turn ended with one. */
  readonly error: AgentError | null;
  readonly capabilities: Capabilities;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The place of its newest event. */
  readonly newest: number;
}

/** Where a session is in its life. */
export type SessionState = "dormant" | "starting" | "idle" | "running" | "waiting" | "ended" | "other";

/** What an agent can do. */
export interface Capabilities {
  readonly acp: boolean;
  readonly permissions: boolean;
  readonly questions: boolean;
  readonly plans: boolean;
  readonly steering: boolean;
  readonly resume: boolean;
  readonly fork: boolean;
}

/** Something that was sent, and how far it has come. */
export interface SessionInput {
  readonly id: string;
  readonly turnId: string;
  readonly author: string;
  readonly message: string;
  readonly attachments: readonly Attachment[];
  readonly state: InputState;
  readonly acceptedAt: string;
}

/** Something that goes with a message. */
export type Attachment =
  | { readonly type: "text"; readonly name?: string | null; readonly text: string }
  | { readonly type: "file"; readonly path: string }
  | { readonly type: "image"; readonly mimeType: string; readonly data: string };
