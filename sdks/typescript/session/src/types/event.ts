import type { Delta, Message } from "./message.js";
import type { SessionSnapshot, SessionState } from "./snapshot.js";
import type { Permission, PermissionOutcome, Question, QuestionOutcome } from "./wait.js";

/** What happened. A newer server may say more: expect an event that is none of these. */
export type SessionEvent =
  | { readonly started: Started }
  | { readonly message: Message }
  | { readonly messageDelta: Delta }
  | { readonly turnStarted: TurnStarted }
  | { readonly turnEnded: TurnEnded }
  | { readonly input: Receipt }
  | { readonly error: AgentError }
  | { readonly questionAsked: Question }
  | { readonly questionResolved: Resolved<QuestionOutcome> }
  | { readonly permissionAsked: Permission }
  | { readonly permissionResolved: Resolved<PermissionOutcome> }
  | { readonly status: { readonly state: SessionState; readonly detail: string | null } }
  | { readonly plan: Plan }
  | { readonly commandsUpdated: { readonly commands: readonly Command[] } }
  | { readonly ended: { readonly reason: "deleted" | "other" } }
  | { readonly snapshot: SessionSnapshot };

/** The agent's process is there, and it has said who it is. */
export interface Started {
  readonly model: string | null;
  readonly mode: string | null;
  readonly version: string | null;
  /** Whether it goes on with a conversation of an earlier process. */
  readonly resumed: boolean;
}

/** The agent began to work on something; by itself if there is no input. */
export interface TurnStarted {
  readonly turnId: string;
  readonly inputId: string | null;
}

/** The agent has finished a turn. */
export interface TurnEnded {
  readonly turnId: string;
  readonly reason: "completed" | "interrupted" | "failed" | "maxTokens" | "refused" | "other";
  readonly usage: Usage | null;
}

/** What a turn took. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  readonly costUsd: number | null;
  readonly contextTokens: number | null;
  readonly contextWindow: number | null;
}

/** What became of something that was sent. */
export interface Receipt {
  readonly inputId: string;
  readonly state: InputState;
  readonly author: string;
  /** What it says: with `accepted` and `edited`. */
  readonly message?: string;
  readonly reason?: string;
  readonly turnId?: string;
}

/** How far something that was sent has come. */
export type InputState = "accepted" | "edited" | "delivered" | "consumed" | "refused" | "withdrawn" | "other";

/** A wait was settled, by whom (nobody if `null`) and how. */
export interface Resolved<Outcome> {
  readonly id: string;
  readonly outcome: Outcome;
  readonly author: string | null;
}

/** What the agent means to do. */
export interface Plan {
  readonly steps: readonly {
    readonly text: string;
    readonly state: "pending" | "inProgress" | "completed" | "other";
  }[];
}

/** Something that a message may begin with, such as `/review`. */
export interface Command {
  readonly name: string;
  readonly description: string | null;
  readonly hint: string | null;
}

/** What went wrong with an agent. */
export type AgentError =
  | { readonly tokenError: { readonly message: string } }
  | {
      readonly processExited: {
        readonly code: number | null;
        readonly signal: number | null;
        readonly stderr: string;
      };
    }
  | { readonly installFailed: { readonly message: string } }
  | { readonly startFailed: { readonly message: string } }
  | { readonly timeout: { readonly message: string } }
  | { readonly unsupported: { readonly feature: string; readonly message: string } }
  | { readonly modelError: { readonly status: number | null; readonly message: string } }
  | { readonly resumeFailed: { readonly message: string } }
  | { readonly protocolError: { readonly message: string } }
  | { readonly storageError: { readonly message: string } }
  | { readonly other: { readonly message: string } };
