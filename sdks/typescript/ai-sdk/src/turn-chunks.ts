import type { Message, MessagePart, SessionEvent, SessionSnapshot, TurnEnded, Wait } from "@tombolo/session";
import type { UIMessageChunk } from "ai";
import { finishReason } from "./finish-reason.js";
import { TextChunks } from "./text-chunks.js";
import { ToolChunks } from "./tool-chunks.js";

/**
 * Converts one turn to chunks of the AI SDK. It compares session states instead of reading single events, so it can
 * start in the middle of a turn.
 */
export class TurnChunks {
  readonly id: string;
  readonly #texts = new TextChunks();
  readonly #tools = new ToolChunks();
  readonly #converted = new Map<string, Message>();
  readonly #sent = new Map<string, unknown>();
  /** The waits of this turn, each with its tool call if it has one. */
  readonly #waits = new Map<string, { readonly wait: Wait; readonly callId: string | undefined }>();
  /** The waits that were answered, even if there was no event for that yet. */
  readonly #answered = new Set<string>();
  /** The message that started the turn, if this page sent it. */
  readonly #inputId: string | undefined;

  constructor(id: string, inputId?: string) {
    this.id = id;
    this.#inputId = inputId;
  }

  /** Chunks that start the message of the turn, or continue it. */
  *start({ session }: SessionSnapshot): Generator<UIMessageChunk> {
    const messageMetadata = { sessionId: session.id, turnId: this.id };
    yield { type: "start", messageId: this.id, messageMetadata };
    yield { type: "start-step" };
  }

  /** Chunks for what is new in a state. */
  *update(state: SessionSnapshot): Generator<UIMessageChunk> {
    for (const message of state.messages) {
      // Messages of a sub-agent are left out: the tool call that started it shows its result.
      const isOurs = message.turnId === this.id && message.role === "assistant";
      if (!isOurs || message.parentToolCallId !== undefined || this.#converted.get(message.id) === message)
        continue;
      this.#converted.set(message.id, message);
      for (const part of message.parts) yield* this.#updatePart(`${message.id}/${part.id}`, part);
    }
    for (const wait of state.waits) {
      if (wait.turnId === this.id && !this.#waits.has(wait.id)) yield* this.#openWait(wait);
    }
  }

  /** Chunks for facts that only the event contains, and not the state. */
  *applyEvent(event: SessionEvent, time: string): Generator<UIMessageChunk> {
    if ("plan" in event) yield* this.#sendData("data-plan", "plan", event.plan);
    if ("permissionResolved" in event) {
      const { id, outcome, author } = event.permissionResolved;
      const known = this.#waits.get(id);
      if (known?.callId !== undefined) {
        if (outcome !== "once" && outcome !== "always") yield* this.#tools.deny(known.callId);
      } else if (known !== undefined) {
        yield* this.#sendSettled(known.wait, { outcome: { permission: outcome }, author, settledAt: time });
      }
    }
    if ("questionResolved" in event) {
      const { id, outcome, author } = event.questionResolved;
      const known = this.#waits.get(id);
      if (known !== undefined) {
        yield* this.#sendSettled(known.wait, { outcome: { question: outcome }, author, settledAt: time });
      }
    }
  }

  /** The end of the turn, if this event ends it. */
  endOf(event: SessionEvent): (TurnEnded & { readonly errorText?: string }) | undefined {
    if ("turnEnded" in event && event.turnEnded.turnId === this.id) return event.turnEnded;
    if (!("input" in event) || event.input.inputId !== this.#inputId) return undefined;
    const { state, reason } = event.input;
    if (state !== "refused" && state !== "withdrawn") return undefined;
    return {
      turnId: this.id,
      reason: "failed",
      usage: null,
      errorText: reason ?? `the message was ${state}`,
    };
  }

  /** Whether the agent waits for approvals of tool calls, and for nothing else. */
  isWaiting({ session, waits }: SessionSnapshot): boolean {
    const ours = waits.filter(({ id, turnId }) => turnId === this.id && !this.#answered.has(id));
    if (session.state !== "waiting" || ours.length === 0) return false;
    return ours.every(({ id }) => this.#waits.get(id)?.callId !== undefined);
  }

  /** Notes that a wait was answered. */
  markAnswered(waitId: string): void {
    this.#answered.add(waitId);
  }

  /** Chunks that end the stream until the approvals are answered. */
  *pause(): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    yield { type: "finish-step" };
    yield { type: "finish", finishReason: "tool-calls" };
  }

  /** Chunks that end the message. */
  *end({ reason, usage }: TurnEnded, errorText: string): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    yield* this.#tools.end();
    yield { type: "finish-step" };
    if (reason === "failed") yield { type: "error", errorText };
    yield {
      type: "finish",
      finishReason: finishReason(reason),
      ...(usage === null ? {} : { messageMetadata: { usage } }),
    };
  }

  *#updatePart(key: string, part: MessagePart): Generator<UIMessageChunk> {
    switch (part.type) {
      case "text":
      case "reasoning":
        return yield* this.#texts.update(key, part.type, part.text);
      case "toolCall":
      case "toolResult":
        yield* this.#texts.end();
        return yield* part.type === "toolCall"
          ? this.#tools.updateCall(part)
          : this.#tools.updateResult(part);
      case "image": {
        const url = part.uri ?? `data:${part.mimeType};base64,${part.data ?? ""}`;
        if (this.#isNew(key, url)) yield { type: "file", url, mediaType: part.mimeType };
        return;
      }
      default:
        return yield* this.#sendData(`data-${part.type}`, key, part);
    }
  }

  *#openWait(wait: Wait): Generator<UIMessageChunk> {
    yield* this.#texts.end();
    const permission = "permission" in wait.request ? wait.request.permission : undefined;
    const isToolCall = permission !== undefined && (yield* this.#tools.requestApproval(permission));
    this.#waits.set(wait.id, { wait, callId: isToolCall ? (permission.callId ?? undefined) : undefined });
    if (!isToolCall) yield* this.#sendData("data-wait", wait.id, wait);
  }

  *#sendSettled(wait: Wait, settlement: NonNullable<Wait["settlement"]>): Generator<UIMessageChunk> {
    yield* this.#sendData("data-wait", wait.id, { ...wait, settlement });
  }

  *#sendData(type: `data-${string}`, id: string, data: unknown): Generator<UIMessageChunk> {
    if (this.#isNew(id, JSON.stringify(data))) yield { type, id, data };
  }

  #isNew(key: string, value: unknown): boolean {
    const isNew = this.#sent.get(key) !== value;
    this.#sent.set(key, value);
    return isNew;
  }
}
