import { reduceSession, type SessionClient, type SessionSnapshot } from "@tombolo/session";
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import { sendAnswers } from "./approvals.js";
import { describeError } from "./describe-error.js";
import { toPrompt } from "./prompt.js";
import { toReadableStream } from "./readable-stream.js";
import { TurnChunks } from "./turn-chunks.js";

/** Options of a {@link SessionChatTransport}. */
export interface SessionChatTransportOptions {
  /** Returns the session id of a chat. Default: the chat id. */
  readonly sessionId?: (chatId: string) => string;
}

/** A turn, and the state of its session. */
interface TurnPosition {
  readonly turn: TurnChunks;
  readonly state: SessionSnapshot;
}

/**
 * Connects `useChat` to a session with a coding agent. The session must exist.
 *
 * A permission request of the agent becomes an approval request of the AI SDK. The stream ends with it, and
 * `sendAutomaticallyWhen: approvalsAnswered` continues the same turn once it is answered. To stop reading, as a page does
 * that is closed, does not end the turn; use `interrupt` for that.
 */
export class SessionChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** `reconnectToStream` sends the whole turn again. */
  readonly resumeStreamIsReplay = true;
  readonly #client: SessionClient;
  readonly #sessionIdOf: (chatId: string) => string;
  /** The turns that wait for approvals, by session. */
  readonly #paused = new Map<string, TurnPosition>();
  /** For each session, a signal that is aborted when the stream of the last sent message has ended. */
  readonly #streams = new Map<string, AbortSignal>();

  constructor(client: SessionClient, { sessionId = (chatId) => chatId }: SessionChatTransportOptions = {}) {
    this.#client = client;
    this.#sessionIdOf = sessionId;
  }

  readonly sendMessages: ChatTransport<Message>["sendMessages"] = async (options) => {
    const { trigger, chatId, messages, abortSignal: signal = NEVER_ABORTED } = options;
    if (trigger === "regenerate-message")
      throw new Error("an agent cannot regenerate a message: its tool calls have had their effects");
    const id = this.#sessionIdOf(chatId);
    const last = messages.at(-1);
    if (last === undefined) throw new TypeError("there is no message to send");
    const ended = new AbortController();
    this.#streams.set(id, ended.signal);
    try {
      const position =
        last.role === "assistant" ? this.#continue(id, last, signal) : this.#send(id, last, signal);
      return this.#stream(await position, signal, ended);
    } catch (error) {
      ended.abort();
      throw error;
    }
  };

  readonly reconnectToStream: ChatTransport<Message>["reconnectToStream"] = async (options) => {
    const { chatId, abortSignal: signal = NEVER_ABORTED } = options;
    const id = this.#sessionIdOf(chatId);
    const state = await this.#client.sessions.snapshot(id, { signal });
    const { turnId } = state.session;
    // A message that this page has sent meanwhile has its own stream.
    if (turnId === null || this.#streams.get(id)?.aborted === false) return null;
    return this.#stream({ turn: new TurnChunks(turnId), state }, signal, new AbortController());
  };

  /** Interrupts the running turn, if any. Its stream ends. */
  async interrupt(chatId: string): Promise<void> {
    await this.#client.sessions.cancel(this.#sessionIdOf(chatId));
  }

  async #send(id: string, message: UIMessage, signal: AbortSignal): Promise<TurnPosition> {
    const state = await this.#client.sessions.snapshot(id, { signal });
    const { turnId, inputId } = await this.#client.sessions.send(id, toPrompt(message), { signal });
    return { turn: new TurnChunks(turnId, inputId), state };
  }

  /** Continues a turn that waited for approvals. */
  async #continue(id: string, message: UIMessage, signal: AbortSignal): Promise<TurnPosition> {
    const position = this.#paused.get(id) ?? (await this.#locate(id, message, signal));
    // The state still contains these waits until the events arrive.
    for (const waitId of await sendAnswers(this.#client, message, signal)) position.turn.markAnswered(waitId);
    return position;
  }

  /** The position of a turn that waited before this page was loaded. The page shows everything up to now. */
  async #locate(id: string, { id: turnId }: UIMessage, signal: AbortSignal): Promise<TurnPosition> {
    const state = await this.#client.sessions.snapshot(id, { signal });
    if (state.session.turnId !== turnId)
      throw new Error("the turn has ended: reload the messages of the chat");
    const turn = new TurnChunks(turnId);
    for (const _ of turn.update(state));
    return { turn, state };
  }

  #stream(
    position: TurnPosition,
    signal: AbortSignal,
    ended: AbortController,
  ): ReadableStream<UIMessageChunk> {
    this.#paused.delete(position.state.session.id);
    return toReadableStream(this.#chunks(position, AbortSignal.any([signal, ended.signal])), ended);
  }

  async *#chunks({ turn, state: known }: TurnPosition, signal: AbortSignal): AsyncGenerator<UIMessageChunk> {
    let state = known;
    const { id } = state.session;
    yield* turn.start(state);
    yield* turn.update(state);
    if (!turn.isWaiting(state)) {
      for await (const record of this.#client.sessions.events(id, { after: state.seq, signal })) {
        state = reduceSession(state, record);
        yield* turn.update(state);
        yield* turn.applyEvent(record.event, record.time);
        const end = turn.endOf(record.event);
        if (end !== undefined)
          return yield* turn.end(end, end.errorText ?? describeError(state.session.error));
        if (turn.isWaiting(state)) break;
      }
    }
    if (!turn.isWaiting(state)) throw new Error("the session was deleted");
    this.#paused.set(id, { turn, state });
    yield* turn.pause();
  }
}

const NEVER_ABORTED = new AbortController().signal;
