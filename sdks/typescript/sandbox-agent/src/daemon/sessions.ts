import { randomId } from "@tombolo/acp-http-client/transport";
import type {
  EditInputRequest,
  EventPage,
  EventRecord,
  MessageAccepted,
  PermissionAnswer,
  SearchPage,
  SendMessageRequest,
  Session,
  SessionCreated,
  SessionInput,
  SessionSnapshot,
  TranscriptPage,
} from "../generated/aliases.js";
import { followEvents, parseData } from "../http/follow-events.js";
import { RetryLoop } from "../http/retry-loop.js";
import { type RouteClient, routeRequest } from "../http/route-client.js";
import type { CallOptions } from "../options.js";
import type { CreateSessionRequest } from "../types/session.js";

/** Options for reading events. */
export interface SessionEventsOptions extends CallOptions {
  /** `seq` of the last event that was read. Default: all events. */
  readonly after?: number | undefined;
  /** Adds to each event the original message of the agent. */
  readonly includeRaw?: boolean | undefined;
}

/** Which sessions to list. Default: all. */
export interface ListSessionsOptions extends CallOptions {
  /** Sessions whose last event was recorded at or after this time. */
  readonly since?: Date | undefined;
  /** Sessions of this agent. */
  readonly agent?: string | undefined;
  /** Sessions in exactly this directory. */
  readonly directory?: string | undefined;
  /** Sessions in this state. */
  readonly state?: Session["state"] | undefined;
}

/** Which page of a search to read. */
export interface SearchOptions extends CallOptions {
  /** The `nextCursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined;
  /** The largest number of hits. Default: 20. */
  readonly limit?: number | undefined;
}

/** Options for sending a message. */
export interface SendOptions extends CallOptions {
  /**
   * The server stores only the first of several messages with the same key. Default: a random key for each call, with which
   * the client retries it.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options for answering a permission request or question. */
export interface AnswerOptions extends CallOptions {
  /** Author of the answer. A hub sets it to the authenticated user. */
  readonly author?: string | undefined;
}

/** Sessions with any agent, in the universal API. The server stores all events, and any client can read them. */
export class Sessions {
  readonly #http: RouteClient;

  /** @internal */
  constructor(http: RouteClient) {
    this.#http = http;
  }

  /** Lists the sessions that match all options, the most recently used first. */
  async list(options: ListSessionsOptions = {}): Promise<readonly Session[]> {
    const { since, agent, directory, state, signal } = options;
    const query = { since: since?.toISOString(), agent, directory, state };
    return (await this.#http.json("get", "/v1/sessions", { query, signal })).items;
  }

  /**
   * Finds text in the titles and messages of all sessions, in any case. A page may be empty although others follow: continue until
   * `nextCursor` is `null`.
   */
  search(query: string, { cursor, limit, signal }: SearchOptions = {}): Promise<SearchPage> {
    return this.#http.json("get", "/v1/search", { query: { query, cursor, limit }, signal });
  }

  get(id: string, { signal }: CallOptions = {}): Promise<Session> {
    return this.#http.json("get", "/v1/sessions/{id}", { names: { id }, signal });
  }

  /** Creates a session with an id of your choice. Creating the same session twice succeeds. */
  create(id: string, session: CreateSessionRequest, { signal }: CallOptions = {}): Promise<SessionCreated> {
    return this.#http.json("post", "/v1/sessions/{id}", { names: { id }, json: session, signal });
  }

  /** Deletes a session and ends its agent. */
  delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("delete", "/v1/sessions/{id}", { names: { id }, signal });
  }

  /** Sends a message. Resolves once the server has stored it; read the events for the response. */
  async send(
    id: string,
    message: string | SendMessageRequest,
    options: SendOptions = {},
  ): Promise<MessageAccepted> {
    const json = typeof message === "string" ? { message } : message;
    const headers = { "idempotency-key": options.idempotencyKey ?? randomId() };
    const retry = new RetryLoop(this.#http.policy);
    const signal = options.signal ?? new AbortController().signal;
    for (;;) {
      try {
        const request = { names: { id }, headers, json, signal: options.signal };
        return await this.#http.json("post", "/v1/sessions/{id}/messages", request);
      } catch (failure) {
        await retry.waitOrThrow(failure, signal);
      }
    }
  }

  /** Interrupts the running turn, if any. */
  cancel(id: string, { signal }: CallOptions = {}): Promise<void> {
    return this.#http.done("post", "/v1/sessions/{id}/cancel", { names: { id }, signal });
  }

  /**
   * Reads the events of a session until it is deleted. Each event comes once and in order, also across lost connections.
   * Throws `GapError` if the server has evicted events that were not read.
   */
  events(
    id: string,
    { after = 0, includeRaw, signal }: SessionEventsOptions = {},
  ): AsyncGenerator<EventRecord, undefined, undefined> {
    const request = routeRequest("get", "/v1/sessions/{id}/events/sse", {
      names: { id },
      query: { includeRaw },
    });
    return followEvents<EventRecord>(this.#http, {
      request,
      after,
      signal,
      decode: (event) => ({ item: parseData(event) }),
    });
  }

  /** Reads a page of stored events. */
  eventPage(
    id: string,
    { after, limit, includeRaw, signal }: SessionEventsOptions & { readonly limit?: number | undefined } = {},
  ): Promise<EventPage> {
    const query = { offset: after, limit, includeRaw };
    return this.#http.json("get", "/v1/sessions/{id}/events", { names: { id }, query, signal });
  }

  /** Reads a page of the transcript. The first page has the oldest messages; `nextCursor` leads to newer ones. */
  messages(
    id: string,
    { cursor, limit, signal }: CallOptions & { readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<TranscriptPage> {
    return this.#http.json("get", "/v1/sessions/{id}/messages", {
      names: { id },
      query: { cursor, limit },
      signal,
    });
  }

  /** Reads the current state of a session. Continue with `events(id, { after: snapshot.seq })`. */
  snapshot(id: string, { signal }: CallOptions = {}): Promise<SessionSnapshot> {
    return this.#http.json("get", "/v1/sessions/{id}/snapshot", { names: { id }, signal });
  }

  /** Lists the messages that were sent, with their delivery state. */
  async inputs(id: string, { signal }: CallOptions = {}): Promise<readonly SessionInput[]> {
    return (await this.#http.json("get", "/v1/sessions/{id}/inputs", { names: { id }, signal })).items;
  }

  /** Changes the text of a queued message. */
  editInput(
    id: string,
    inputId: string,
    edit: EditInputRequest,
    { signal }: CallOptions = {},
  ): Promise<void> {
    const names = { id, input_id: inputId };
    return this.#http.done("put", "/v1/sessions/{id}/inputs/{input_id}", { names, json: edit, signal });
  }

  /** Withdraws a queued message. */
  withdrawInput(id: string, inputId: string, { signal }: CallOptions = {}): Promise<void> {
    const names = { id, input_id: inputId };
    return this.#http.done("delete", "/v1/sessions/{id}/inputs/{input_id}", { names, signal });
  }

  /** Answers a permission request. The first answer wins. */
  answerPermission(
    id: string,
    permissionId: string,
    reply: PermissionAnswer,
    options: AnswerOptions = {},
  ): Promise<void> {
    const names = { id, permission_id: permissionId };
    const json = { reply, ...authorOf(options) };
    const path = "/v1/sessions/{id}/permissions/{permission_id}/reply";
    return this.#http.done("post", path, { names, json, signal: options.signal });
  }

  /** Answers a question: for each of its items, the selected or written texts. */
  answerQuestion(
    id: string,
    questionId: string,
    answers: readonly (readonly string[])[],
    options: AnswerOptions = {},
  ): Promise<void> {
    const names = { id, question_id: questionId };
    const json = { answers, ...authorOf(options) };
    const path = "/v1/sessions/{id}/questions/{question_id}/reply";
    return this.#http.done("post", path, { names, json, signal: options.signal });
  }

  /** Declines to answer a question. */
  rejectQuestion(id: string, questionId: string, options: AnswerOptions = {}): Promise<void> {
    const names = { id, question_id: questionId };
    const path = "/v1/sessions/{id}/questions/{question_id}/reject";
    return this.#http.done("post", path, { names, json: authorOf(options), signal: options.signal });
  }
}

function authorOf({ author }: AnswerOptions): { readonly author?: string } {
  return author === undefined ? {} : { author };
}
