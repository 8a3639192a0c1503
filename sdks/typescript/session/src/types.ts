/**
 * The wire types of sessions, by the names that this package exports. They are generated from the OpenAPI documents:
 * `cargo xtask codegen` writes every schema that is named here, with the schemas it refers to, to `generated/api.ts`.
 *
 * A newer server may send event, part and state variants that are not in these types; code must tolerate them.
 */
import type { components } from "./generated/api.js";

type Schemas = components["schemas"];

/** State of a session after all events up to `seq`. */
export type SessionSnapshot = Schemas["SessionSnapshot"];
/** One conversation with an agent. */
export type Session = Schemas["Session"];
/** Life-cycle state of a session. */
export type SessionState = Schemas["SessionState"];
/** Features that an agent supports. */
export type AgentCapabilities = Schemas["AgentCapabilities"];
/** One event of a session, keyed by its kind: `{ message: … }`, `{ turnEnded: … }`, … */
export type SessionEvent = Schemas["Event"];
/** One event of a session with its sequence number and time. Records of the server also name session and agent. */
export type EventRecord = Pick<Schemas["EventRecord"], "seq" | "time" | "event">;
/** The `turnEnded` event. */
export type TurnEnded = Schemas["TurnEnded"];
/** Tokens and cost of one turn, or of all turns of a session. */
export type TokenUsage = Schemas["TokenUsage"];
/** Why an agent failed. */
export type AgentError = Schemas["AgentError"];
/** The agent's plan. */
export type AgentPlan = Schemas["AgentPlan"];
/** A slash command that the agent offers, such as `/review`. */
export type AgentCommand = Schemas["AgentCommand"];

/** A message; in an event, only its new and changed parts. */
export type Message = Schemas["Message"];
/** One part of a message: text, reasoning, a tool call, a tool result, … */
export type MessagePart = Schemas["MessagePart"];
/** Text that is appended to one part of a message. */
export type MessageDelta = Schemas["MessageDelta"];
/** A tool call of the agent. */
export type ToolCall = Schemas["ToolCall"];
/** The kind of a tool, for labels and icons. */
export type ToolKind = Schemas["ToolKind"];
/** The result of a tool call. */
export type ToolResult = Schemas["ToolResult"];
/** The changes that a tool made to one file. */
export type FileDiff = Schemas["FileDiff"];

/** A message that was sent to a session, and its delivery state. */
export type SessionInput = Schemas["SessionInput"];
/** Delivery state of an input. */
export type InputState = Schemas["InputState"];
/** The `input` event: a change of an input's delivery state. */
export type InputReceipt = Schemas["InputReceipt"];
/** A text, file or image that is sent with a message. */
export type MessageAttachment = Schemas["MessageAttachment"];
/** Request body that sends a message. */
export type SendMessageRequest = Schemas["SendMessageRequest"];
/** The answer to a sent message: it is stored. */
export type MessageAccepted = Schemas["MessageAccepted"];

/** A permission request or question that is open until a person answers. */
export type Wait = Schemas["Wait"];
/** A change in the list of open waits. */
export type WaitEvent = Schemas["WaitEvent"];
/** The subject of a wait: a permission request or a question. */
export type WaitRequest = Schemas["WaitRequest"];
/** A person's answer to a wait. */
export type WaitAnswer = Schemas["WaitAnswer"];
/** A permission request: the agent wants to use a tool. */
export type PermissionRequest = Schemas["PermissionRequest"];
/** A question of the agent, or a plan that it wants approved. */
export type QuestionRequest = Schemas["QuestionRequest"];

/** A frame of an observation stream. */
export type ObservationFrame = Schemas["ObservationFrame"];
/** An event and its cursor in an observation stream. */
export type EventEnvelope = Schemas["EventEnvelope"];
/** A problem with an observation stream. */
export type StreamDiagnostic = Schemas["StreamDiagnostic"];
/** A frame about the observation stream itself. */
export type StreamControl = Schemas["StreamControl"];
/** The people who watch and drive a session. */
export type WorkerPresence = Schemas["WorkerPresence"];
