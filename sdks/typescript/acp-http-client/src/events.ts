import type { RpcMessage } from "./message.js";

/** A message of the agent. */
export interface AgentMessageEvent {
  readonly type: "message";
  /** Position in the stream. Ids increase, but not always by one. */
  readonly eventId: number;
  readonly message: RpcMessage;
}

/**
 * The server has evicted events that were not read yet. The stream continues at `oldest`.
 *
 * This happens when the client was disconnected, or its reader slow, for longer than the server keeps messages. It also
 * happens when another instance has taken the name of the one that was read before.
 */
export interface GapEvent {
  readonly type: "gap";
  /** The oldest event that the server still has. */
  readonly oldest: number;
  /** The newest event at that time. */
  readonly newest: number;
}

/** The agent wrote a line to standard output that is not a JSON-RPC message. */
export interface UnparsedEvent {
  readonly type: "unparsed";
  /** The line, or its beginning. */
  readonly text: string;
  /** Length of the whole line. */
  readonly bytes: number;
  /** Whether `text` is only the beginning of the line. */
  readonly truncated: boolean;
}

/** The agent's process exited. The next `initialize` restarts it, if the client has the `agent` option. */
export interface ExitedEvent {
  readonly type: "exited";
  /** The exit code; `null` if a signal ended the process. */
  readonly code: number | null;
  /** The signal that ended the process. */
  readonly signal: number | null;
  /** The end of what the process wrote to standard error. */
  readonly stderrTail: string;
}

/** The instance no longer exists: it was deleted, or the server was restarted. */
export interface GoneEvent {
  readonly type: "gone";
}

/** An event of a newer server that this version does not know. */
export interface UnknownEvent {
  readonly type: "unknown";
  /** Name of the event on the wire. */
  readonly event: string;
  /** Data of the event, not parsed. */
  readonly data: string;
}

/** An event about the instance or its stream, as opposed to a message of the agent. */
export type ControlEvent = GapEvent | UnparsedEvent | ExitedEvent | GoneEvent | UnknownEvent;

/** An event of an instance. */
export type InstanceEvent = AgentMessageEvent | ControlEvent;

/** Parses a control event. */
export function controlEvent(event: string, data: string): ControlEvent {
  const fields = parseFields(data);
  switch (event) {
    case "gap":
      return { type: "gap", oldest: asNumber(fields.oldest) ?? 0, newest: asNumber(fields.newest) ?? 0 };
    case "unparsed":
      return {
        type: "unparsed",
        text: asString(fields.text) ?? data,
        bytes: asNumber(fields.bytes) ?? data.length,
        truncated: fields.truncated === true,
      };
    case "exited":
      return {
        type: "exited",
        code: asNumber(fields.code) ?? null,
        signal: asNumber(fields.signal) ?? null,
        stderrTail: asString(fields.stderrTail) ?? "",
      };
    default:
      return { type: "unknown", event, data };
  }
}

/** The event for message data that is not a JSON object. */
export function unparsedEvent(data: string): UnparsedEvent {
  return { type: "unparsed", text: data, bytes: data.length, truncated: false };
}

function parseFields(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function asNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
