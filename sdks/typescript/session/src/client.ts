import type {
  EventRecord,
  MessageAccepted,
  SendMessageRequest,
  SessionSnapshot,
  Wait,
  WaitAnswer,
  WaitEvent,
} from "./types.js";

/** The client methods that are needed to follow sessions and take part in them. `SandboxAgentClient` implements it. */
export interface SessionClient {
  readonly sessions: {
    /** Reads the current state of a session and the sequence number of the last event in it. */
    snapshot(id: string, options?: CallOptions): Promise<SessionSnapshot>;
    /**
     * Reads the events after a sequence number, each once and in order, until the session ends. It may throw an error
     * named `GapError`.
     */
    events(id: string, options?: CallOptions & { readonly after?: number }): AsyncIterable<EventRecord>;
    /** Sends a message. Resolves once the server has stored it. */
    send(id: string, message: string | SendMessageRequest, options?: SendOptions): Promise<MessageAccepted>;
    /** Interrupts the running turn, if any. */
    cancel(id: string, options?: CallOptions): Promise<unknown>;
  };
  readonly waits: {
    /** Reads changes to the open waits of all sessions. */
    events(options?: CallOptions): AsyncIterable<WaitEvent>;
    /** Answers a wait. The first answer wins. */
    answer(id: string, answer: WaitAnswer, options?: AnswerOptions): Promise<Wait>;
  };
}

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Options for sending a message. */
export interface SendOptions extends CallOptions {
  /** The server stores only the first of several messages with the same key. */
  readonly idempotencyKey?: string;
}

/** Options for answering a wait. */
export interface AnswerOptions extends CallOptions {
  readonly author?: string;
}
