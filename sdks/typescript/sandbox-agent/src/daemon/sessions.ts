import { follow, parsed } from "../http/follow.js";
import { askOf, type Http } from "../http/http.js";
import { Retry } from "../http/retry.js";
import { randomName } from "../names.js";
import type { CallOptions } from "../options.js";
import type {
  CreatedSession,
  CreateSession,
  EditInput,
  PermissionAnswer,
  SendMessage,
  SentMessage,
  Session,
  SessionEventPage,
  SessionInput,
  SessionRecord,
  SessionSnapshot,
  Transcript,
} from "../types/session.js";

/** How the events of a session are read. */
export interface SessionEventsOptions extends CallOptions {
  /** The `seq` of the last event that was read; everything is read if left out. */
  readonly after?: number | undefined;
  /** Adds to each event what the agent said in its own words. */
  readonly includeRaw?: boolean | undefined;
}

/** How a message is sent. */
export interface SendOptions extends CallOptions {
  /** Two messages with the same key are one. Made up if left out, so that a lost answer is asked for again. */
  readonly idempotencyKey?: string | undefined;
}

/** How an answer is given. */
export interface AnswerOptions extends CallOptions {
  /** Who gives it. A hub says that itself. */
  readonly author?: string | undefined;
}

/** Sessions with any agent, in one vocabulary. Whatever happens in one is kept, and can be read from anywhere. */
export class Sessions {
  readonly #http: Http;

  /** @internal */
  constructor(http: Http) {
    this.#http = http;
  }

  /** All sessions. */
  async list({ signal }: CallOptions = {}): Promise<readonly Session[]> {
    return (await this.#http.json("get", "/v1/sessions", { signal })).items;
  }

  /** One session. */
  read(id: string, { signal }: CallOptions = {}): Promise<Session> {
    return this.#http.json("get", "/v1/sessions/{id}", { names: { id }, signal });
  }

  /** Makes a session, under a name of yours. The same twice is one session. */
  create(id: string, session: CreateSession, { signal }: CallOptions = {}): Promise<CreatedSession> {
    return this.#http.json("post", "/v1/sessions/{id}", { names: { id }, json: session, signal });
  }

  /** Ends a session and its agent, and forgets it. */
  delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/sessions/{id}", { names: { id }, signal });
  }

  /** Sends a message. It ends when the message is written down; what comes of it is told by the events. */
  async send(id: string, message: string | SendMessage, options: SendOptions = {}): Promise<SentMessage> {
    const json = typeof message === "string" ? { message } : message;
    const headers = { "idempotency-key": options.idempotencyKey ?? randomName() };
    const retry = new Retry(this.#http.patience);
    const giveUp = options.signal ?? new AbortController().signal;
    for (;;) {
      try {
        const request = { names: { id }, headers, json, signal: options.signal };
        return await this.#http.json("post", "/v1/sessions/{id}/messages", request);
      } catch (failure) {
        await retry.after(failure, giveUp);
      }
    }
  }

  /** Ends the turn that runs, if one does. */
  cancel(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/sessions/{id}/cancel", { names: { id }, signal });
  }

  /**
   * What happens, from the first event on or after the one that was read last, until the session is deleted.
   *
   * A connection that is lost is made anew: each event comes once, in order. It fails with `GapError` where events
   * are no longer kept.
   */
  events(
    id: string,
    { after = 0, includeRaw, signal }: SessionEventsOptions = {},
  ): AsyncGenerator<SessionRecord, undefined, undefined> {
    const ask = askOf("get", "/v1/sessions/{id}/events/sse", { names: { id }, query: { includeRaw } });
    return follow<SessionRecord>(this.#http, {
      ask,
      after,
      signal,
      read: (event) => ({ item: parsed(event) }),
    });
  }

  /** Events that there are already, after one, as a page. */
  eventPage(
    id: string,
    { after, limit, includeRaw, signal }: SessionEventsOptions & { readonly limit?: number | undefined } = {},
  ): Promise<SessionEventPage> {
    const query = { offset: after, limit, includeRaw };
    return this.#http.json("get", "/v1/sessions/{id}/events", { names: { id }, query, signal });
  }

  /** The messages as they are by now, the newest page first; `nextCursor` leads to older ones. */
  messages(
    id: string,
    { cursor, limit, signal }: CallOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<Transcript> {
    return this.#http.json("get", "/v1/sessions/{id}/messages", {
      names: { id },
      query: { cursor, limit },
      signal,
    });
  }

  /** What all events come to, and up to which. Read on with `events(id, { after: snapshot.seq })`. */
  snapshot(id: string, { signal }: CallOptions = {}): Promise<SessionSnapshot> {
    return this.#http.json("get", "/v1/sessions/{id}/snapshot", { names: { id }, signal });
  }

  /** What was sent, and how far each has come. */
  async inputs(id: string, { signal }: CallOptions = {}): Promise<readonly SessionInput[]> {
    return (await this.#http.json("get", "/v1/sessions/{id}/inputs", { names: { id }, signal })).items;
  }

  /** Says something else with a message that still waits for its turn. */
  editInput(id: string, inputId: string, edit: EditInput, { signal }: CallOptions = {}): Promise<void> {
    const names = { id, input_id: inputId };
    return this.#http.done("put", "/v1/sessions/{id}/inputs/{input_id}", { names, json: edit, signal });
  }

  /** Takes back a message that still waits for its turn. */
  withdrawInput(id: string, inputId: string, { signal }: CallOptions = {}): Promise<void> {
    const names = { id, input_id: inputId };
    return this.#http.done("delete", "/v1/sessions/{id}/inputs/{input_id}", { names, signal });
  }

  /** Answers a permission that the agent asks for. The first answer holds. */
  permit(
    id: string,
    permissionId: string,
    reply: PermissionAnswer,
    options: AnswerOptions = {},
  ): Promise<void> {
    const names = { id, permission_id: permissionId };
    const json = { reply, ...by(options) };
    const path = "/v1/sessions/{id}/permissions/{permission_id}/reply";
    return this.#http.done("post", path, { names, json, signal: options.signal });
  }

  /** Answers a question: for each thing that is asked, what was chosen or written. */
  answer(
    id: string,
    questionId: string,
    answers: readonly (readonly string[])[],
    options: AnswerOptions = {},
  ): Promise<void> {
    const names = { id, question_id: questionId };
    const json = { answers, ...by(options) };
    const path = "/v1/sessions/{id}/questions/{question_id}/reply";
    return this.#http.done("post", path, { names, json, signal: options.signal });
  }

  /** Does not answer a question, and says so. */
  reject(id: string, questionId: string, options: AnswerOptions = {}): Promise<void> {
    const names = { id, question_id: questionId };
    const path = "/v1/sessions/{id}/questions/{question_id}/reject";
    return this.#http.done("post", path, { names, json: by(options), signal: options.signal });
  }
}

function by({ author }: AnswerOptions): { readonly author?: string } {
  return author === undefined ? {} : { author };
}
