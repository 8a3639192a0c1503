import { reduceSession, type SessionClient, type SessionSnapshot } from "@tombolo/session";
import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import { answer } from "./approvals.js";
import { explain } from "./explain.js";
import { promptOf } from "./prompt.js";
import { readable } from "./readable.js";
import { Turn } from "./turn.js";

/** How a chat is led. */
export interface SessionChatTransportOptions {
  /** The session of a chat; it has the name of the chat if left out. */
  readonly sessionId?: (chatId: string) => string;
}

/** A turn, and what is known of its session. */
interface At {
  readonly turn: Turn;
  readonly state: SessionSnapshot;
}

/**
 * Leads the chat of `useChat` in a session with a coding agent, which must be there.
 *
 * What the agent asks for before it does something is an approval of the AI SDK: the stream ends with it, and
 * `sendAutomaticallyWhen: approvalsAnswered` goes on with the same turn when it was answered. Whoever stops listening,
 * as each page does that is left, does not end the turn: see `interrupt`.
 */
export class SessionChatTransport<Message extends UIMessage = UIMessage> implements ChatTransport<Message> {
  /** Who comes back gets the whole turn again. */
  readonly resumeStreamIsReplay = true;
  readonly #client: SessionClient;
  readonly #idOf: (chatId: string) => string;
  /** The turns that wait for approvals, by session. */
  readonly #paused = new Map<string, At>();
  /** What was sent last, by session, until its stream has ended. */
  readonly #sent = new Map<string, AbortSignal>();

  constructor(client: SessionClient, { sessionId = (chatId) => chatId }: SessionChatTransportOptions = {}) {
    this.#client = client;
    this.#idOf = sessionId;
  }

  readonly sendMessages: ChatTransport<Message>["sendMessages"] = async (asked) => {
    const { trigger, chatId, messages, abortSignal: signal = NEVER } = asked;
    if (trigger === "regenerate-message") throw new Error("what an agent has done cannot be done anew");
    const [id, last] = [this.#idOf(chatId), messages.at(-1)];
    if (last === undefined) throw new TypeError("there is no message to send");
    const ended = new AbortController();
    this.#sent.set(id, ended.signal);
    try {
      const from = last.role === "assistant" ? this.#goOn(id, last, signal) : this.#send(id, last, signal);
      return this.#stream(await from, signal, ended);
    } catch (error) {
      ended.abort();
      throw error;
    }
  };

  readonly reconnectToStream: ChatTransport<Message>["reconnectToStream"] = async (asked) => {
    const { chatId, abortSignal: signal = NEVER } = asked;
    const id = this.#idOf(chatId);
    const state = await this.#client.sessions.snapshot(id, { signal });
    const { turnId } = state.session;
    // What was sent from here meanwhile has a stream of its own.
    if (turnId === null || this.#sent.get(id)?.aborted === false) return null;
    return this.#stream({ turn: new Turn(turnId), state }, signal, new AbortController());
  };

  /** Interrupts the turn of the agent, if one runs; its stream ends with it. */
  async interrupt(chatId: string): Promise<void> {
    await this.#client.sessions.cancel(this.#idOf(chatId));
  }

  async #send(id: string, message: UIMessage, signal: AbortSignal): Promise<At> {
    const state = await this.#client.sessions.snapshot(id, { signal });
    const { turnId, inputId } = await this.#client.sessions.send(id, promptOf(message), { signal });
    return { turn: new Turn(turnId, inputId), state };
  }

  /** Goes on with a turn that waited. */
  async #goOn(id: string, message: UIMessage, signal: AbortSignal): Promise<At> {
    const at = this.#paused.get(id) ?? (await this.#found(id, message, signal));
    // The state does not know yet that it goes on.
    for (const waitId of await answer(this.#client, message, signal)) at.turn.answered(waitId);
    return at;
  }

  /** A turn that waited before this page was loaded: whatever there is of it was shown. */
  async #found(id: string, { id: turnId }: UIMessage, signal: AbortSignal): Promise<At> {
    const state = await this.#client.sessions.snapshot(id, { signal });
    if (state.session.turnId !== turnId)
      throw new Error("the turn is over: load the messages of the chat anew");
    const turn = new Turn(turnId);
    for (const _ of turn.take(state));
    return { turn, state };
  }

  #stream(at: At, signal: AbortSignal, ended: AbortController): ReadableStream<UIMessageChunk> {
    this.#paused.delete(at.state.session.id);
    return readable(this.#chunks(at, AbortSignal.any([signal, ended.signal])), ended);
  }

  async *#chunks({ turn, state: known }: At, signal: AbortSignal): AsyncGenerator<UIMessageChunk> {
    let state = known;
    const { id } = state.session;
    yield* turn.begin(state);
    yield* turn.take(state);
    if (!turn.isWaiting(state)) {
      for await (const record of this.#client.sessions.events(id, { after: state.seq, signal })) {
        state = reduceSession(state, record);
        yield* turn.take(state);
        yield* turn.hear(record.event, record.time);
        const end = turn.endOf(record.event);
        if (end !== undefined) return yield* turn.end(end, end.why ?? explain(state.session.error));
        if (turn.isWaiting(state)) break;
      }
    }
    if (!turn.isWaiting(state)) throw new Error("the session is no longer there");
    this.#paused.set(id, { turn, state });
    yield* turn.pause();
  }
}

/** For whoever never gives up. */
const NEVER = new AbortController().signal;
