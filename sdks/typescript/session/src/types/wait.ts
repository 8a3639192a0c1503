import type { ToolKind } from "./message.js";

/** Something that stops until a person answers. */
export interface Wait {
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly ask: Ask;
  readonly openedAt: string;
  readonly expiresAt: string | null;
  /** What holds when nobody answers in time. */
  readonly default: "reject";
  readonly settled: Settled | null;
}

/** What is asked. */
export type Ask = { readonly permission: Permission } | { readonly question: Question };

/** How a wait was settled, by whom (nobody if `null`) and when. */
export interface Settled {
  readonly outcome: { readonly permission: PermissionOutcome } | { readonly question: QuestionOutcome };
  readonly author: string | null;
  readonly at: string;
}

/** The agent asks before it does something. */
export interface Permission {
  readonly id: string;
  readonly turnId: string | null;
  readonly callId: string | null;
  readonly tool: string;
  readonly kind: ToolKind;
  readonly title: string;
  readonly reason: string | null;
  readonly input: unknown;
  /** What `always` would allow, for people; none if the agent does not say. */
  readonly always: readonly string[];
}

/** How a permission was settled. */
export type PermissionOutcome = "once" | "always" | "reject" | "expired" | "withdrawn";

/** A question, or a plan, for a person. */
export interface Question {
  readonly id: string;
  readonly turnId: string | null;
  readonly callId: string | null;
  readonly questions: readonly QuestionItem[];
  /** The plan that is to be approved, as Markdown, if that is the question. */
  readonly plan: string | null;
}

/** One thing that is asked. */
export interface QuestionItem {
  readonly question: string;
  readonly header: string | null;
  readonly options: readonly Choice[];
  readonly multiple: boolean;
  /** Whether any other text is an answer too. */
  readonly custom: boolean;
}

/** Something that can be chosen. */
export interface Choice {
  readonly label: string;
  readonly description: string | null;
}

/** How a question was settled. */
export type QuestionOutcome =
  | { readonly answered: readonly (readonly string[])[] }
  | "rejected"
  | "expired"
  | "withdrawn";

/** What becomes of the waits of a daemon. A newer server may say more. */
export type WaitEvent =
  | { readonly type: "snapshot"; readonly waits: readonly Wait[] }
  | { readonly type: "opened"; readonly wait: Wait }
  | { readonly type: "settled"; readonly wait: Wait }
  | { readonly type: "unknown" };

/** What a person answers: to a permission, to a question or a plan, or no to anything. */
export type WaitAnswer =
  | { readonly permission: "once" | "always" | "reject" }
  | { readonly question: readonly (readonly string[])[] }
  | "reject";
