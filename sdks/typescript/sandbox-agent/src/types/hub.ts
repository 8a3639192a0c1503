import type { Schemas } from "./schema.js";

/** A daemon that the hub knows. */
export type Runtime = Schemas["Runtime"];
/** Request to add a runtime. */
export type AddRuntimeRequest = Schemas["AddRuntimeRequest"];
/** Request for a join token. */
export type CreateJoinTokenRequest = Schemas["CreateJoinTokenRequest"];
/** A token with which a daemon joins the hub. */
export type JoinToken = Schemas["JoinToken"];
/** The people who watch and drive a session. */
export type WorkerPresence = Schemas["WorkerPresence"];
/** The open waits of all runtimes, and the runtimes that could not be reached. */
export type WaitInbox = Schemas["WaitInbox"];
/** An open wait and its runtime. */
export type InboxWait = Schemas["InboxWait"];
/** A change in the open waits of all runtimes. */
export type InboxEvent = Schemas["InboxEvent"];
/** The authenticated user and their token. */
export type CallerIdentity = Schemas["CallerIdentity"];
/** A user of the hub. */
export type User = Schemas["User"];
/** Request to add a user. */
export type CreateUserRequest = Schemas["CreateUserRequest"];
/** Request to replace the roles of a user. */
export type UpdateUserRequest = Schemas["UpdateUserRequest"];
/** An access token, without its secret. */
export type AccessToken = Schemas["AccessToken"];
/** Request to create a token. */
export type CreateTokenRequest = Schemas["CreateTokenRequest"];
/** A new token with its secret. */
export type TokenCreated = Schemas["TokenCreated"];
/** An entry of the audit log. */
export type AuditRecord = Schemas["AuditRecord"];
/** A device that may connect to the hub. */
export type Device = Schemas["Device"];
/** Request to add a device. */
export type AddDeviceRequest = Schemas["AddDeviceRequest"];
/** A new device with its secret. */
export type DeviceAdded = Schemas["DeviceAdded"];
/** A device that waits for its pairing to be confirmed. */
export type PendingPairing = Schemas["PendingPairing"];
/** Request to confirm a pairing, with grants. */
export type ConfirmPairingRequest = Schemas["ConfirmPairingRequest"];
/** Result of confirming a pairing. */
export type PairingConfirmed = Schemas["PairingConfirmed"];
/** The capabilities of a device that a runtime may use. */
export type Grant = Schemas["Grant"];
/** Request to add a grant. */
export type CreateGrantRequest = Schemas["CreateGrantRequest"];
/** Access of a session to a device. */
export type Environment = Schemas["Environment"];
/** Request to create an environment. */
export type CreateEnvironmentRequest = Schemas["CreateEnvironmentRequest"];
/** A new environment with its secret. */
export type EnvironmentCreated = Schemas["EnvironmentCreated"];
/** The device that a new session gets access to. */
export type EnvironmentSpec = Schemas["EnvironmentSpec"];
/** Request to a device. */
export type DeviceRequest = Schemas["DeviceRequest"];
/** State of devices, environments and remembered approvals. */
export type RelayStatus = Schemas["RelayStatus"];
/** An approval that also applies to later requests. */
export type RememberedApproval = Schemas["RememberedApproval"];
/** Whether the relay is enabled in a workspace. */
export type WorkspaceRelaySettings = Schemas["WorkspaceRelaySettings"];
/** A page of the relay audit log. */
export type RelayAuditPage = Schemas["RelayAuditPage"];
