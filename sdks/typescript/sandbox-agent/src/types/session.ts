import type { Schemas } from "./schema.js";

/** One conversation with an agent. */
export type Session = Schemas["Session"];
/** Life-cycle state of a session. */
export type SessionState = Schemas["SessionState"];
/** Request to create a session. Through a hub it may also name a device. */
export type CreateSessionRequest = Schemas["CreateSessionRequest"] & {
  readonly environment?: Schemas["EnvironmentSpec"];
};
/** Result of creating a session. */
export type SessionCreated = Schemas["SessionCreated"];
/** Request to send a message. */
export type SendMessageRequest = Schemas["SendMessageRequest"];
/** Result of sending a message. */
export type MessageAccepted = Schemas["MessageAccepted"];
/** Whether a message that arrives during a turn is queued, rejected or steers the turn. */
export type WhenBusy = Schemas["WhenBusy"];
/** A text, file or image that is sent with a message. */
export type MessageAttachment = Schemas["MessageAttachment"];
/** A message that was sent, with its delivery state. */
export type SessionInput = Schemas["SessionInput"];
/** Request to change a queued message. */
export type EditInputRequest = Schemas["EditInputRequest"];
/** An event with its sequence number. */
export type EventRecord = Schemas["EventRecord"];
/** An event of a session. A newer server may send others. */
export type SessionEvent = Schemas["Event"];
/** A page of events. */
export type EventPage = Schemas["EventPage"];
/** A message; in an event, only its new and changed parts. */
export type Message = Schemas["Message"];
/** A part of a message. */
export type MessagePart = Schemas["MessagePart"];
/** A page of messages, and the last event that they include. */
export type TranscriptPage = Schemas["TranscriptPage"];
/** State of a session after all events up to `seq`. */
export type SessionSnapshot = Schemas["SessionSnapshot"];
/** A permission request or question that is open until a person answers. */
export type Wait = Schemas["Wait"];
/** A change in the open waits of a daemon. */
export type WaitEvent = Schemas["WaitEvent"];
/** A person's answer to a wait. */
export type WaitAnswer = Schemas["WaitAnswer"];
/** Answer to a permission request. */
export type PermissionAnswer = Schemas["PermissionAnswer"];
/** Which actions of an agent need permission. */
export type PermissionMode = Schemas["PermissionMode"];
