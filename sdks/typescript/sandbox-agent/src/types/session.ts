import type { Schemas } from "./schema.js";

/** One conversation with an agent. */
export type Session = Schemas["Session"];
/** Where a session is in its life. */
export type SessionState = Schemas["SessionState"];
/** What a session is made of; through a hub, also what it uses of which device. */
export type CreateSession = Schemas["Create"] & { readonly environment?: Schemas["UseDevice"] };
/** What came of creating a session. */
export type CreatedSession = Schemas["Created"];
/** Something for the agent. */
export type SendMessage = Schemas["Send"];
/** A message that was written down. */
export type SentMessage = Schemas["Sent"];
/** What to do with a message while a turn runs. */
export type WhenBusy = Schemas["WhenBusy"];
/** Something that goes with a message. */
export type Attachment = Schemas["Attachment"];
/** Something that was sent, and how far it has come. */
export type SessionInput = Schemas["Input"];
/** What is to be said instead. */
export type EditInput = Schemas["Edit"];
/** One event of a session with its place. */
export type SessionRecord = Schemas["Record"];
/** What happened. A newer server may say more: expect an event that is none of these. */
export type SessionEvent = Schemas["Event"];
/** Events with their places, and whether there are more. */
export type SessionEventPage = Schemas["EventPage"];
/** One message, or those parts of it that are new or have changed. */
export type Message = Schemas["Message"];
/** One part of a message. */
export type MessagePart = Schemas["Part"];
/** Messages as they are by now, and the event that they cover. */
export type Transcript = Schemas["Transcribed"];
/** What all events of a session up to one come to. */
export type SessionSnapshot = Schemas["Snapshot"];
/** Something that stops until a person answers. */
export type Wait = Schemas["Wait"];
/** What becomes of the waits of a daemon. */
export type WaitEvent = Schemas["WaitEvent"];
/** What a person answers. */
export type WaitAnswer = Schemas["WaitAnswer"];
/** What is said to a permission. */
export type PermissionAnswer = Schemas["PermissionAnswer"];
/** What an agent may do. */
export type PermissionMode = Schemas["PermissionMode"];
