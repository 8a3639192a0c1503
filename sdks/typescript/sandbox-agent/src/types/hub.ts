import type { Schemas } from "./schema.js";

/** A daemon that a hub knows. */
export type Runtime = Schemas["Runtime"];
/** A daemon that the hub is to know. */
export type AddRuntime = Schemas["AddRuntime"];
/** A daemon that is to come by itself. */
export type InviteRuntime = Schemas["InviteRuntime"];
/** What a daemon joins a hub with. */
export type JoinToken = Schemas["JoinToken"];
/** Who is there for a worker. */
export type Presence = Schemas["Presence"];
/** What waits for somebody, in all runtimes, and which of them could not be asked. */
export type Inbox = Schemas["Inbox"];
/** A wait, and where. */
export type InboxWait = Schemas["InboxWait"];
/** What becomes of the waits of all runtimes. */
export type InboxEvent = Schemas["InboxEvent"];
/** Who one is, and by which token. */
export type WhoAmI = Schemas["WhoAmI"];
/** Somebody who uses a hub. */
export type User = Schemas["User"];
/** Somebody who is to use the hub. */
export type AddUser = Schemas["AddUser"];
/** What somebody may do. */
export type SetUser = Schemas["SetUser"];
/** What lets somebody in. */
export type HubToken = Schemas["Token"];
/** A token that is to be made. */
export type AddHubToken = Schemas["AddToken"];
/** A token and its secret, which is shown once. */
export type AddedHubToken = Schemas["AddedToken"];
/** Something that was done through a hub, with its place. */
export type AuditRecord = Schemas["AuditRecord"];
/** A device that may connect to a hub. */
export type Device = Schemas["Device"];
/** A device that is to be let in. */
export type AddDevice = Schemas["AddDevice"];
/** A device that was let in, and its secret, which is shown once. */
export type AddedDevice = Schemas["AddedDevice"];
/** A device that wants to be let in. */
export type PairingRequest = Schemas["PairingRequest"];
/** A device is let in, and this is granted. */
export type ConfirmPairing = Schemas["ConfirmPairing"];
/** What came of letting a device in. */
export type ConfirmedPairing = Schemas["Confirmed"];
/** What a device may offer and a runtime may use. */
export type Grant = Schemas["Grant"];
/** What is granted from now on. */
export type AddGrant = Schemas["AddGrant"];
/** What a session uses of a device. */
export type Environment = Schemas["Environment"];
/** A device that a session is to use. */
export type AddEnvironment = Schemas["AddEnvironment"];
/** What a session uses of a device, and the secret for it, which is shown once. */
export type AddedEnvironment = Schemas["AddedEnvironment"];
/** What of which device a session uses. */
export type UseDevice = Schemas["UseDevice"];
/** One thing that is asked of a device. */
export type AskDevice = Schemas["AskDevice"];
/** How it is with devices, environments and what was approved. */
export type RelayStatus = Schemas["RelayStatus"];
/** What was approved for more than once. */
export type Remembered = Schemas["Remembered"];
/** Whether devices are lent in a workspace. */
export type WorkspaceRelay = Schemas["WorkspaceRelay"];
/** What was asked of devices, and what came of it. */
export type RelayAuditPage = Schemas["RelayAuditPage"];
