import type { Schemas } from "./schema.js";

/** A daemon that the hub knows. */
export type Runtime = Schemas["Runtime"];
/** Request to add a runtime. */
export type AddRuntime = Schemas["AddRuntime"];
/** Request for a join token. */
export type InviteRuntime = Schemas["InviteRuntime"];
/** A token with which a daemon joins the hub. */
export type JoinToken = Schemas["JoinToken"];
/** The people who watch and drive a session. */
export type Presence = Schemas["Presence"];
/** The open waits of all runtimes, and the runtimes that could not be reached. */
export type HubWaitList = Schemas["Inbox"];
/** An open wait and its runtime. */
export type HubWait = Schemas["InboxWait"];
/** A change in the open waits of all runtimes. */
export type HubWaitEvent = Schemas["InboxEvent"];
/** The authenticated user and their token. */
export type WhoAmI = Schemas["WhoAmI"];
/** A user of the hub. */
export type User = Schemas["User"];
/** Request to add a user. */
export type AddUser = Schemas["AddUser"];
/** Request to replace the roles of a user. */
export type UpdateUser = Schemas["SetUser"];
/** An access token, without its secret. */
export type HubToken = Schemas["Token"];
/** Request to create a token. */
export type AddHubToken = Schemas["AddToken"];
/** A new token with its secret. */
export type AddedHubToken = Schemas["AddedToken"];
/** An entry of the audit log. */
export type AuditRecord = Schemas["AuditRecord"];
/** A device that may connect to the hub. */
export type Device = Schemas["Device"];
/** Request to add a device. */
export type AddDevice = Schemas["AddDevice"];
/** A new device with its secret. */
export type AddedDevice = Schemas["AddedDevice"];
/** A device that waits for its pairing to be confirmed. */
export type PairingRequest = Schemas["PairingRequest"];
/** Request to confirm a pairing, with grants. */
export type ConfirmPairing = Schemas["ConfirmPairing"];
/** Result of confirming a pairing. */
export type ConfirmedPairing = Schemas["Confirmed"];
/** What a device may offer and a runtime may use. */
export type Grant = Schemas["Grant"];
/** Request to add a grant. */
export type AddGrant = Schemas["AddGrant"];
/** Access of a session to a device. */
export type Environment = Schemas["Environment"];
/** Request to create an environment. */
export type AddEnvironment = Schemas["AddEnvironment"];
/** A new environment with its secret. */
export type AddedEnvironment = Schemas["AddedEnvironment"];
/** The device that a new session gets access to. */
export type SessionEnvironment = Schemas["UseDevice"];
/** Request to a device. */
export type RelayRequestBody = Schemas["AskDevice"];
/** State of devices, environments and remembered approvals. */
export type RelayStatus = Schemas["RelayStatus"];
/** An approval that also applies to later requests. */
export type RememberedApproval = Schemas["Remembered"];
/** Whether the relay is enabled in a workspace. */
export type WorkspaceRelay = Schemas["WorkspaceRelay"];
/** A page of the relay audit log. */
export type RelayAuditPage = Schemas["RelayAuditPage"];
