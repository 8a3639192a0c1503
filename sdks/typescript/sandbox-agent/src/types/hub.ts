import type { Schemas } from "./schema.js";

/** A daemon that the hub knows. */
export type Runtime = Schemas["Runtime"];
/** Request to add a runtime. */
export type AddRuntime = Schemas["AddRuntimeRequest"];
/** Request for a join token. */
export type InviteRuntime = Schemas["CreateJoinTokenRequest"];
/** A token with which a daemon joins the hub. */
export type JoinToken = Schemas["JoinToken"];
/** The people who watch and drive a session. */
export type Presence = Schemas["WorkerPresence"];
/** The open waits of all runtimes, and the runtimes that could not be reached. */
export type HubWaitList = Schemas["WaitInbox"];
/** An open wait and its runtime. */
export type HubWait = Schemas["InboxWait"];
/** A change in the open waits of all runtimes. */
export type HubWaitEvent = Schemas["InboxEvent"];
/** The authenticated user and their token. */
export type WhoAmI = Schemas["CallerIdentity"];
/** A user of the hub. */
export type User = Schemas["User"];
/** Request to add a user. */
export type AddUser = Schemas["CreateUserRequest"];
/** Request to replace the roles of a user. */
export type UpdateUser = Schemas["UpdateUserRequest"];
/** An access token, without its secret. */
export type HubToken = Schemas["AccessToken"];
/** Request to create a token. */
export type AddHubToken = Schemas["CreateTokenRequest"];
/** A new token with its secret. */
export type AddedHubToken = Schemas["TokenCreated"];
/** An entry of the audit log. */
export type AuditRecord = Schemas["AuditRecord"];
/** A device that may connect to the hub. */
export type Device = Schemas["Device"];
/** Request to add a device. */
export type AddDevice = Schemas["AddDeviceRequest"];
/** A new device with its secret. */
export type AddedDevice = Schemas["DeviceAdded"];
/** A device that waits for its pairing to be confirmed. */
export type PairingRequest = Schemas["PendingPairing"];
/** Request to confirm a pairing, with grants. */
export type ConfirmPairing = Schemas["ConfirmPairingRequest"];
/** Result of confirming a pairing. */
export type ConfirmedPairing = Schemas["PairingConfirmed"];
/** What a device may offer and a runtime may use. */
export type Grant = Schemas["Grant"];
/** Request to add a grant. */
export type AddGrant = Schemas["CreateGrantRequest"];
/** Access of a session to a device. */
export type Environment = Schemas["Environment"];
/** Request to create an environment. */
export type AddEnvironment = Schemas["CreateEnvironmentRequest"];
/** A new environment with its secret. */
export type AddedEnvironment = Schemas["EnvironmentCreated"];
/** The device that a new session gets access to. */
export type SessionEnvironment = Schemas["EnvironmentSpec"];
/** Request to a device. */
export type RelayRequestBody = Schemas["DeviceRequest"];
/** State of devices, environments and remembered approvals. */
export type RelayStatus = Schemas["RelayStatus"];
/** An approval that also applies to later requests. */
export type RememberedApproval = Schemas["RememberedApproval"];
/** Whether the relay is enabled in a workspace. */
export type WorkspaceRelay = Schemas["WorkspaceRelaySettings"];
/** A page of the relay audit log. */
export type RelayAuditPage = Schemas["RelayAuditPage"];
