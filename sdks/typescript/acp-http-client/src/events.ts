import type { Message } from "./message.js";

/** Something that the agent said. */
export interface MessageEvent {
  readonly type: "message";
  /** Its place on the stream; it grows from message to message, not always by one. */
  readonly eventId: number;
  /** What was said. */
  readonly message: Message;
}

/**
 * Some of what the agent said is no longer kept, and was not seen. What follows starts at `oldest`.
 *
 * It comes when the connection was cut, or the consumer slow, for longer than the server keeps messages; and
 * when the instance of this name is another one than before.
 */
export interface GapEvent {
  readonly type: "gap";
  /** The oldest event that is kept. */
  readonly oldest: number;
  /** The newest event that there was then. */
  readonly newest: number;
}

/** The agent wrote a line that is no message. */
export interface UnparsedEvent {
  readonly type: "unparsed";
  /** The line, or its start. */
  readonly text: string;
  /** How long the line was. */
  readonly bytes: number;
  /** Whether `text` is only the start of it. */
  readonly truncated: boolean;
}

/**
 * The agent's process has ended. The next `initialize` starts it anew, if the client knows which agent it is.
 */
export interface ExitedEvent {
  readonly type: "exited";
  /** The exit code, unless a signal ended it. */
  readonly code: number | null;
  /** The signal that ended it. */
  readonly signal: number | null;
  /** The last it wrote to standard error. */
  readonly stderrTail: string;
}

/** The server no longer has the instance: somebody deleted it, or the server was started anew. */
export interface GoneEvent {
  readonly type: "gone";
}

/** Something that a newer server says beside the messages. */
export interface UnknownEvent {
  readonly type: "unknown";
  /** Its name on the wire. */
  readonly event: string;
  /** What it says, as it came. */
  readonly data: string;
}

/** What the transport says about the stream; none of it is a word of the agent. */
export type ControlEvent = GapEvent | UnparsedEvent | ExitedEvent | GoneEvent | UnknownEvent;

/** What can be read from an instance. */
export type AgentEvent = MessageEvent | ControlEvent;

/** A control event as the wire has it. */
export function controlEvent(event: string, data: string): ControlEvent {
  const fields = fieldsOf(data);
  switch (event) {
    case "gap":
      return { type: "gap", oldest: number(fields.oldest) ?? 0, newest: number(fields.newest) ?? 0 };
    case "unparsed":
      return {
        type: "unparsed",
        text: text(fields.text) ?? data,
        bytes: number(fields.bytes) ?? data.length,
        truncated: fields.truncated === true,
      };
    case "exited":
      return {
        type: "exited",
        code: number(fields.code) ?? null,
        signal: number(fields.signal) ?? null,
        stderrTail: text(fields.stderrTail) ?? "",
      };
    default:
      return { type: "unknown", event, data };
  }
}

/** The data of a message event that is no message after all. */
export function unparsed(data: string): UnparsedEvent {
  return { type: "unparsed", text: data, bytes: data.length, truncated: false };
}

function fieldsOf(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
