import type { InputState, SessionEvent } from "./event.js";
import type { Attachment, SessionSnapshot } from "./snapshot.js";
import type { Wait, WaitAnswer, WaitEvent } from "./wait.js";

/** What is needed of a client to follow sessions and to take part in them; `SandboxAgentClient` has it. */
export interface SessionClient {
  readonly sessions: {
    /** What all events come to, and up to which. */
    snapshot(id: string, options?: CallOptions): Promise<SessionSnapshot>;
    /** What happens after an event, each once, in order; it ends with the session, and may fail with a `GapError`. */
    events(id: string, options?: CallOptions & { readonly after?: number }): AsyncIterable<SessionRecord>;
    /** Sends a message; it ends when that is written down. */
    send(id: string, message: string | SendMessage, options?: SendOptions): Promise<SentMessage>;
    /** Interrupts the turn that runs, if one does. */
    cancel(id: string, options?: CallOptions): Promise<unknown>;
  };
  readonly waits: {
    /** What becomes of what waits, in all sessions. */
    events(options?: CallOptions): AsyncIterable<WaitEvent>;
    /** Answers, whatever was asked. The first answer holds. */
    answer(id: string, answer: WaitAnswer, options?: AnswerOptions): Promise<Wait>;
  };
}

/** How one thing is asked. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** How a message is sent. */
export interface SendOptions extends CallOptions {
  /** Two messages with the same key are one. */
  readonly idempotencyKey?: string;
}

/** How an answer is given. */
export interface AnswerOptions extends CallOptions {
  readonly author?: string;
}

/** One event with its place in a session. */
export interface SessionRecord {
  readonly seq: number;
  readonly time: string;
  readonly event: SessionEvent;
}

/** Something for the agent. */
export interface SendMessage {
  readonly message: string;
  readonly attachments?: readonly Attachment[];
  /** What to do while a turn runs; it waits if left out. */
  readonly whenBusy?: "queue" | "reject" | "steer";
  readonly author?: string | null;
}

/** A message that was written down. */
export interface SentMessage {
  readonly inputId: string;
  readonly turnId: string;
  readonly state: InputState;
}
