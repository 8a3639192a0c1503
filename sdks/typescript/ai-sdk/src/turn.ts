import type { Message, MessagePart, SessionEvent, SessionSnapshot, TurnEnded, Wait } from "@tombolo/session";
import type { UIMessageChunk } from "ai";
import { finishOf } from "./finish.js";
import { Texts } from "./texts.js";
import { Tools } from "./tools.js";

/** Says what happens in one turn as chunks. It looks at states, so that it can begin and go on anywhere. */
export class Turn {
  readonly id: string;
  readonly #texts = new Texts();
  readonly #tools = new Tools();
  readonly #seen = new Map<string, Message>();
  readonly #said = new Map<string, unknown>();
  /** What was asked, and of which tool call, if it is one. */
  readonly #asked = new Map<string, { readonly wait: Wait; readonly callId: string | undefined }>();

  /** What was answered, also if the events do not tell it yet. */
  readonly #answered = new Set<string>();
  /** What it works on, if that was sent from here. */
  readonly #inputId: string | undefined;

  constructor(id: string, inputId?: string) {
    this.id = id;
    this.#inputId = inputId;
  }

  /** Begins a message, or goes on with it. */
  *begin({ session }: SessionSnapshot): Generator<UIMessageChunk> {
    const messageMetadata = { sessionId: session.id, turnId: this.id };
    yield { type: "start", messageId: this.id, messageMetadata };
    yield { type: "start-step" };
  }

  /** What is new in a state. */
  *take(state: SessionSnapshot): Generator<UIMessageChunk> {
    for (const message of state.messages) {
      // What another agent does that the agent started is told by the tool that started it.
      const isOurs = message.turnId === this.id && message.role === "assistant";
      if (!isOurs || message.parentToolCallId !== undefined || this.#seen.get(message.id) === message)
        continue;
      this.#seen.set(message.id, message);
      for (const part of message.parts) yield* this.#takePart(`${message.id}/${part.id}`, part);
    }
    for (const wait of state.waits) {
      if (wait.turnId === this.id && !this.#asked.has(wait.id)) yield* this.#ask(wait);
    }
  }

  /** What only the event itself tells. */
  *hear(event: SessionEvent, time: string): Generator<UIMessageChunk> {
    if ("plan" in event) yield* this.#data("data-plan", "plan", event.plan);
    if ("permissionResolved" in event) {
      const { id, outcome, author } = event.permissionResolved;
      const asked = this.#asked.get(id);
      if (asked?.callId !== undefined) {
        if (outcome !== "once" && outcome !== "always") yield* this.#tools.deny(asked.callId);
      } else if (asked !== undefined) {
        yield* this.#settle(asked.wait, { outcome: { permission: outcome }, author, at: time });
      }
    }
    if ("questionResolved" in event) {
      const { id, outcome, author } = event.questionResolved;
      const asked = this.#asked.get(id);
      if (asked !== undefined) {
        yield* this.#settle(asked.wait, { outcome: { question: outcome }, author, at: time });
      }
    }
  }

  /** How it ends with an event, if it does. */
  endOf(event: SessionEvent): (TurnEnded & { readonly why?: string }) | undefined {
    if ("turnEnded" in event && event.turnEnded.turnId === this.id) return event.turnEnded;
    if (!("input" in event) || event.input.inputId !== this.#inputId) return undefined;
    const { state, reason } = event.input;
    if (state !== "refused" && state !== "withdrawn") return undefined;
    return { turnId: this.id, reason: "failed", usage: null, why: reason ?? `the message was ${state}` };
  }

  /** Whether the agent waits for approvals, and for nothing else. */
  isWaiting({ session, waits }: SessionSnapshot): boolean {
    const ours = waits.filter(({ id, turnId }) => turnId === this.id && !this.#answered.has(id));
    if (session.state !== "waiting" || ours.length === 0) return false;
    return ours.every(({ id }) => this.#asked.get(id)?.callId !== undefined);
  }

  /** Something that was asked no longer waits. */
  answered(waitId: string): void {
    this.#answered.add(waitId);
  }

  /** Stops until the approvals are answered. */
  *pause(): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    yield { type: "finish-step" };
    yield { type: "finish", finishReason: "tool-calls" };
  }

  /** There is nothing more to say. */
  *end({ reason, usage }: TurnEnded, errorText: string): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    yield* this.#tools.end();
    yield { type: "finish-step" };
    if (reason === "failed") yield { type: "error", errorText };
    yield {
      type: "finish",
      finishReason: finishOf(reason),
      ...(usage === null ? {} : { messageMetadata: { usage } }),
    };
  }

  *#takePart(key: string, part: MessagePart): Generator<UIMessageChunk> {
    switch (part.type) {
      case "text":
      case "reasoning":
        return yield* this.#texts.say(key, part.type, part.text);
      case "toolCall":
      case "toolResult":
        yield* this.#texts.end();
        return yield* part.type === "toolCall" ? this.#tools.call(part) : this.#tools.result(part);
      case "image": {
        const url = part.uri ?? `data:${part.mimeType};base64,${part.data ?? ""}`;
        if (this.#isNew(key, url)) yield { type: "file", url, mediaType: part.mimeType };
        return;
      }
      default:
        return yield* this.#data(`data-${part.type}`, key, part);
    }
  }

  *#ask(wait: Wait): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    const permission = "permission" in wait.ask ? wait.ask.permission : undefined;
    const isOfATool = permission !== undefined && (yield* this.#tools.ask(permission));
    this.#asked.set(wait.id, { wait, callId: isOfATool ? (permission.callId ?? undefined) : undefined });
    if (!isOfATool) yield* this.#data("data-wait", wait.id, wait);
  }

  *#settle(wait: Wait, settled: NonNullable<Wait["settled"]>): Generator<UIMessageChunk> {
    yield* this.#data("data-wait", wait.id, { ...wait, settled });
  }

  *#data(type: `data-${string}`, id: string, data: unknown): Generator<UIMessageChunk> {
    if (this.#isNew(id, JSON.stringify(data))) yield { type, id, data };
  }

  #isNew(key: string, value: unknown): boolean {
    const isNew = this.#said.get(key) !== value;
    this.#said.set(key, value);
    return isNew;
  }
}
