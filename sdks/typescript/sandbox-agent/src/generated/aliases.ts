/** Generated from the OpenAPI documents by `cargo xtask codegen`. */
import type { Schemas } from "../types/schema.js";

/** A token of a user, without its secret: the hub stores only a hash of it. */
export type AccessToken = Schemas["AccessToken"];
/** The response of `GET /api/tokens`. */
export type AccessTokenList = Schemas["AccessTokenList"];
/** The body of `POST /api/devices`, which registers a device, or another copy of one. */
export type AddDeviceRequest = Schemas["AddDeviceRequest"];
/** The body of `POST /api/runtimes`, which adds a daemon. */
export type AddRuntimeRequest = Schemas["AddRuntimeRequest"];
/** An agent and its installation on this daemon. */
export type Agent = Schemas["Agent"];
/** The features that an agent supports; `null` for a feature of which Tombolo does not know whether the agent supports it. */
export type AgentCapabilities = Schemas["AgentCapabilities"];
/** An error of an agent. */
export type AgentError = Schemas["AgentError"];
/** The response of `POST /v1/agents/{agent}/install`. */
export type AgentInstalled = Schemas["AgentInstalled"];
/** The response of `GET /v1/agents`. */
export type AgentList = Schemas["AgentList"];
/** A mode of an agent: how it behaves. */
export type AgentMode = Schemas["AgentMode"];
/** The response of `GET /v1/agents/{agent}/modes`. */
export type AgentModeList = Schemas["AgentModeList"];
/** One model of an agent. */
export type AgentModel = Schemas["AgentModel"];
/** The response of `GET /v1/agents/{agent}/models`. */
export type AgentModelList = Schemas["AgentModelList"];
/** The agent's plan. */
export type AgentPlan = Schemas["AgentPlan"];
/** The native protocol of an agent. */
export type AgentProtocol = Schemas["AgentProtocol"];
/** The origin of an agent's definition, which determines how it is installed. */
export type AgentSource = Schemas["AgentSource"];
/** The agent's process is running and has identified itself. */
export type AgentStarted = Schemas["AgentStarted"];
/** The body of `POST /v1/sessions/{id}/permissions/{permission_id}/reply`. */
export type AnswerPermissionRequest = Schemas["AnswerPermissionRequest"];
/** The body of `POST /v1/sessions/{id}/questions/{question_id}/reply`. */
export type AnswerQuestionRequest = Schemas["AnswerQuestionRequest"];
/** The body of `POST /v1/waits/{wait_id}`, for questions and permissions alike. */
export type AnswerWaitRequest = Schemas["AnswerWaitRequest"];
/** The approval that an operation needs. */
export type ApprovalPolicy = Schemas["ApprovalPolicy"];
/** The response of `POST /v1/fs/upload-batch`. */
export type ArchiveUnpacked = Schemas["ArchiveUnpacked"];
/** A request to the hub, whether it was allowed or refused. */
export type AuditEntry = Schemas["AuditEntry"];
/** The response of `GET /api/audit`. */
export type AuditPage = Schemas["AuditPage"];
/** An entry with its sequence number. */
export type AuditRecord = Schemas["AuditRecord"];
/** State of a capability family or a resource. */
export type Availability = Schemas["Availability"];
/** A family without further properties. */
export type BasicCapability = Schemas["BasicCapability"];
/** Binds an environment to a device: the roots and capability families that it uses. */
export type Binding = Schemas["Binding"];
/** The response of `GET /api/whoami`. */
export type CallerIdentity = Schemas["CallerIdentity"];
/** A granted capability family. */
export type CapabilityGrant = Schemas["CapabilityGrant"];
/** The state of a capability family. */
export type CapabilityState = Schemas["CapabilityState"];
/** Network access of commands. */
export type CommandNetwork = Schemas["CommandNetwork"];
/** The slash commands of the agent changed. */
export type CommandsUpdated = Schemas["CommandsUpdated"];
/** Desktop control. */
export type ComputerCapability = Schemas["ComputerCapability"];
/** The body of `POST /api/devices/pairings/{code}/confirm`, which registers the device and creates grants. */
export type ConfirmPairingRequest = Schemas["ConfirmPairingRequest"];
/** The body of `POST /v1/fs/mkdir`. */
export type CreateDirectoryRequest = Schemas["CreateDirectoryRequest"];
/** The body of `POST /api/v1/relay/environments`, which gives a session access to a device. */
export type CreateEnvironmentRequest = Schemas["CreateEnvironmentRequest"];
/** The body of `POST /api/grants`, which lets a runtime use capabilities of a device. */
export type CreateGrantRequest = Schemas["CreateGrantRequest"];
/** The body of `POST /api/runtimes/join-tokens`, which creates a token for a daemon that connects to the hub. */
export type CreateJoinTokenRequest = Schemas["CreateJoinTokenRequest"];
/** The body of `POST /api/tokens`, which creates a token. */
export type CreateTokenRequest = Schemas["CreateTokenRequest"];
/** The body of `POST /api/users`, which adds a user. */
export type CreateUserRequest = Schemas["CreateUserRequest"];
/** The kind of text. */
export type DeltaKind = Schemas["DeltaKind"];
/** A device that is registered with a hub. */
export type Device = Schemas["Device"];
/** The response of `POST /api/devices`. */
export type DeviceAdded = Schemas["DeviceAdded"];
/** The capabilities that a device offers. */
export type DeviceCapabilities = Schemas["DeviceCapabilities"];
/** The connection of a device. */
export type DeviceConnection = Schemas["DeviceConnection"];
/** The response of `GET /api/devices`. */
export type DeviceList = Schemas["DeviceList"];
/** The body of `POST /api/v1/relay/environments/{id}/requests`: one request to the device, as in the relay protocol. */
export type DeviceRequest = Schemas["DeviceRequest"];
/** The status of a connected device. */
export type DeviceStatus = Schemas["DeviceStatus"];
/** A token of one copy of a device, without its secret. */
export type DeviceToken = Schemas["DeviceToken"];
/** The response of `POST /v1/fs/mkdir`. */
export type DirectoryCreated = Schemas["DirectoryCreated"];
/** An entry of a directory. */
export type DirectoryEntry = Schemas["DirectoryEntry"];
/** The response of `GET /v1/fs/entries`: a page of a directory, sorted by name. */
export type DirectoryEntryList = Schemas["DirectoryEntryList"];
/** The body of `PUT /v1/sessions/{id}/inputs/{input_id}`, which replaces the text of a queued message. */
export type EditInputRequest = Schemas["EditInputRequest"];
/** A session's access to a device. */
export type Environment = Schemas["Environment"];
/** The response of `POST /api/v1/relay/environments`. */
export type EnvironmentCreated = Schemas["EnvironmentCreated"];
/** The response of `GET /api/v1/relay/environments`. */
export type EnvironmentList = Schemas["EnvironmentList"];
/** The device and the capabilities to use; also the `environment` of a session that is created through a hub. */
export type EnvironmentSpec = Schemas["EnvironmentSpec"];
/** The status of an environment. */
export type EnvironmentStatus = Schemas["EnvironmentStatus"];
/** An event and its position in the stream of a worker. */
export type EventEnvelope = Schemas["EventEnvelope"];
/** The response of `GET /v1/sessions/{id}/events`. */
export type EventPage = Schemas["EventPage"];
/** An event with its sequence number in the session's journal. */
export type EventRecord = Schemas["EventRecord"];
/** A failed attempt. */
export type FailedAttempt = Schemas["FailedAttempt"];
/** A component of an agent that could not be installed. */
export type FailedComponent = Schemas["FailedComponent"];
/** A group of methods that is offered, granted and accepted as a whole. */
export type Family = Schemas["Family"];
/** File access. */
export type FileCapability = Schemas["FileCapability"];
/** The changes to one file. */
export type FileDiff = Schemas["FileDiff"];
/** The kind of a file. */
export type FileKind = Schemas["FileKind"];
/** The response of `GET /v1/fs/stat`. */
export type FileMetadata = Schemas["FileMetadata"];
/** The response of `POST /v1/fs/move`. */
export type FileMoved = Schemas["FileMoved"];
/** The response of `PUT /v1/fs/file`. */
export type FileWritten = Schemas["FileWritten"];
/** Allows a runtime to use capabilities of a device. */
export type Grant = Schemas["Grant"];
/** The response of `GET /api/grants`. */
export type GrantList = Schemas["GrantList"];
/** The response of `GET /v1/health`, which needs no token and so contains no details. */
export type HealthStatus = Schemas["HealthStatus"];
/** A change in the open waits of all runtimes. */
export type InboxEvent = Schemas["InboxEvent"];
/** A wait and its runtime. */
export type InboxWait = Schemas["InboxWait"];
/** The delivery state of an input changed. */
export type InputReceipt = Schemas["InputReceipt"];
/** The delivery state of an input. */
export type InputState = Schemas["InputState"];
/** The body of `POST /v1/agents/{agent}/install`. */
export type InstallAgentRequest = Schemas["InstallAgentRequest"];
/** A phase of an installation. */
export type InstallPhase = Schemas["InstallPhase"];
/** The data of a `progress` event while an installation is followed. */
export type InstallProgress = Schemas["InstallProgress"];
/** The token that a daemon joins a hub with. */
export type JoinToken = Schemas["JoinToken"];
/** The newest entry of an audit log. */
export type LedgerHead = Schemas["LedgerHead"];
/** The body of `POST /api/login`, which logs in a browser. */
export type LoginRequest = Schemas["LoginRequest"];
/** The response of `POST /api/login`. */
export type LoginResponse = Schemas["LoginResponse"];
/** How a client obtains access to a remote MCP server. */
export type McpOauth = Schemas["McpOauth"];
/** One MCP server. */
export type McpServer = Schemas["McpServer"];
/** A program, or a program and its arguments. */
export type McpServerCommand = Schemas["McpServerCommand"];
/** All MCP servers of a directory, by name. */
export type McpServerList = Schemas["McpServerList"];
/** The transport of a remote MCP server. */
export type McpTransport = Schemas["McpTransport"];
/** One message, or those parts of it that are new or have changed. */
export type Message = Schemas["Message"];
/** The response of `POST /v1/sessions/{id}/messages`: the message is stored and will be delivered. */
export type MessageAccepted = Schemas["MessageAccepted"];
/** A text, file or image that belongs to a message. */
export type MessageAttachment = Schemas["MessageAttachment"];
/** Text that is appended to one part of a message. */
export type MessageDelta = Schemas["MessageDelta"];
/** One part of a message. */
export type MessagePart = Schemas["MessagePart"];
/** The role of the speaker. */
export type MessageRole = Schemas["MessageRole"];
/** The body of `POST /v1/fs/move`. */
export type MoveFileRequest = Schemas["MoveFileRequest"];
/** A frame of an observation stream. */
export type ObservationFrame = Schemas["ObservationFrame"];
/** The origin of a list of modes or models. */
export type OfferSource = Schemas["OfferSource"];
/** A root as the device describes it, not validated yet. */
export type OfferedRoot = Schemas["OfferedRoot"];
/** An output stream of a process. */
export type OutputStream = Schemas["OutputStream"];
/** The credentials of a registered device, which are sent once. */
export type PairedDevice = Schemas["PairedDevice"];
/** The response of `POST /api/devices/pairings/claim`. */
export type PairingClaim = Schemas["PairingClaim"];
/** The response of `POST /api/devices/pairings/{code}/confirm`. */
export type PairingConfirmed = Schemas["PairingConfirmed"];
/** The response of `GET /api/devices/pairings`. */
export type PairingList = Schemas["PairingList"];
/** The response of `POST /api/devices/pairings`. */
export type PairingStarted = Schemas["PairingStarted"];
/** A device that waits for confirmation. */
export type PendingPairing = Schemas["PendingPairing"];
/** An answer to a permission. */
export type PermissionAnswer = Schemas["PermissionAnswer"];
/** How far an agent may act without asking. */
export type PermissionMode = Schemas["PermissionMode"];
/** How a permission was settled. */
export type PermissionOutcome = Schemas["PermissionOutcome"];
/** A permission was granted, rejected, expired or withdrawn. */
export type PermissionResolved = Schemas["PermissionResolved"];
/** The progress of a step. */
export type PlanStepState = Schemas["PlanStepState"];
/** The policy decision on a request. */
export type PolicyDecision = Schemas["PolicyDecision"];
/** A viewer of the worker. */
export type PresentViewer = Schemas["PresentViewer"];
/** An error response of the API (`application/problem+json`). */
export type Problem = Schemas["Problem"];
export type ProblemKind = Schemas["ProblemKind"];
/** How a process ended. */
export type ProcessExit = Schemas["ProcessExit"];
/** A piece of output. */
export type ProcessLogEntry = Schemas["ProcessLogEntry"];
/** Requested output is no longer stored: reading continues at `oldest`. */
export type ProcessLogGap = Schemas["ProcessLogGap"];
/** The response of `GET /v1/processes/{id}/logs`. */
export type ProcessLogPage = Schemas["ProcessLogPage"];
/** A signal that can be sent to a process and its group. */
export type ProcessSignal = Schemas["ProcessSignal"];
/** Whether a process is running. */
export type ProcessState = Schemas["ProcessState"];
/** One question. */
export type QuestionItem = Schemas["QuestionItem"];
/** An option of a question. */
export type QuestionOption = Schemas["QuestionOption"];
/** How a question was settled. */
export type QuestionOutcome = Schemas["QuestionOutcome"];
/** A question was answered, rejected, expired or withdrawn. */
export type QuestionResolved = Schemas["QuestionResolved"];
/** A user who recently drove the session. */
export type RecentDriver = Schemas["RecentDriver"];
/** The body of `POST /v1/sessions/{id}/questions/{question_id}/reject`. */
export type RejectQuestionRequest = Schemas["RejectQuestionRequest"];
/** The response of `GET /api/v1/relay/audit`. */
export type RelayAuditPage = Schemas["RelayAuditPage"];
/** A request to a device and its outcome; also the `relay` control of a session's stream. */
export type RelayCall = Schemas["RelayCall"];
/** The origin of a request. */
export type RelayContext = Schemas["RelayContext"];
/** Error codes of relay requests. */
export type RelayErrorCode = Schemas["RelayErrorCode"];
/** The response of `GET /api/v1/relay/status`. */
export type RelayStatus = Schemas["RelayStatus"];
/** An approval that holds for more than one request. */
export type RememberedApproval = Schemas["RememberedApproval"];
/** Limits of a single request, added by the relay server. */
export type RequestLimits = Schemas["RequestLimits"];
/** Outcome of a request. */
export type RequestStatus = Schemas["RequestStatus"];
/** How a stream resumes after a cursor. */
export type ResumeOutcome = Schemas["ResumeOutcome"];
/** A role in a workspace. */
export type Role = Schemas["Role"];
/** A directory that a device lends, as granted, accepted or bound. */
export type Root = Schemas["Root"];
/** Access mode of a root. */
export type RootMode = Schemas["RootMode"];
/** A daemon that a hub knows. */
export type Runtime = Schemas["Runtime"];
/** How a hub connects to a runtime. */
export type RuntimeKind = Schemas["RuntimeKind"];
/** The response of `GET /api/runtimes`. */
export type RuntimeList = Schemas["RuntimeList"];
/** The body of `POST /v1/sessions/{id}/messages`, which sends a message to the agent. */
export type SendMessageRequest = Schemas["SendMessageRequest"];
/** The body of `POST /v1/processes/{id}/signal`. */
export type SendSignalRequest = Schemas["SendSignalRequest"];
/** The response of `GET /`. */
export type ServerInfo = Schemas["ServerInfo"];
/** One conversation with an agent. */
export type Session = Schemas["Session"];
/** The response of `POST /v1/sessions/{id}`. */
export type SessionCreated = Schemas["SessionCreated"];
/** Why a session ended. */
export type SessionEndReason = Schemas["SessionEndReason"];
/** The session ended. */
export type SessionEnded = Schemas["SessionEnded"];
/** A message that was sent to a session, with its delivery state. */
export type SessionInput = Schemas["SessionInput"];
/** The response of `GET /v1/sessions/{id}/inputs`. */
export type SessionInputList = Schemas["SessionInputList"];
/** The response of `GET /v1/sessions`. */
export type SessionList = Schemas["SessionList"];
/** The state of a session after all events up to `seq`. */
export type SessionSnapshot = Schemas["SessionSnapshot"];
/** The life-cycle state of a session. */
export type SessionState = Schemas["SessionState"];
/** The state of a session. */
export type SessionStatus = Schemas["SessionStatus"];
/** The body of `PUT /api/workspaces/{workspace}/relay`. */
export type SetWorkspaceRelayRequest = Schemas["SetWorkspaceRelayRequest"];
/** Shell commands. */
export type ShellCapability = Schemas["ShellCapability"];
/** Restrictions on shell commands. */
export type ShellGrant = Schemas["ShellGrant"];
/** Skills from one or more sources. */
export type Skill = Schemas["Skill"];
/** All skills of a directory, by name. */
export type SkillList = Schemas["SkillList"];
/** A source of skills. */
export type SkillSource = Schemas["SkillSource"];
/** The kind of a skill source. */
export type SkillSourceKind = Schemas["SkillSourceKind"];
/** The body of `POST /api/devices/pairings`, with which a device asks to be registered. */
export type StartPairingRequest = Schemas["StartPairingRequest"];
/** The body of `POST /v1/processes`. */
export type StartProcessRequest = Schemas["StartProcessRequest"];
/** A change of the stream itself. */
export type StreamControl = Schemas["StreamControl"];
/** A problem with a stream. */
export type StreamDiagnostic = Schemas["StreamDiagnostic"];
/** Flow control: the window that this side grants for the stream of each request, until it sends `stream.credit`. */
export type StreamWindow = Schemas["StreamWindow"];
/** A text frame that a client of `GET /v1/processes/{id}/terminal` sends. */
export type TerminalCommand = Schemas["TerminalCommand"];
/** The size of a terminal in characters. */
export type TerminalSize = Schemas["TerminalSize"];
/** The response of `POST /api/tokens`. */
export type TokenCreated = Schemas["TokenCreated"];
/** Limits a token to less than its user may do. */
export type TokenScope = Schemas["TokenScope"];
/** Tokens and cost of one turn, or of all turns of a session. */
export type TokenUsage = Schemas["TokenUsage"];
/** A tool call of the agent. */
export type ToolCall = Schemas["ToolCall"];
/** Tools. */
export type ToolCapability = Schemas["ToolCapability"];
/** The kind of a tool. */
export type ToolKind = Schemas["ToolKind"];
/** The result of a tool call. */
export type ToolResult = Schemas["ToolResult"];
/** The progress of a tool call. */
export type ToolStatus = Schemas["ToolStatus"];
/** The response of `GET /v1/sessions/{id}/messages`. */
export type TranscriptPage = Schemas["TranscriptPage"];
/** Why a turn ended. */
export type TurnEndReason = Schemas["TurnEndReason"];
/** A turn ended. */
export type TurnEnded = Schemas["TurnEnded"];
/** A turn started. */
export type TurnStarted = Schemas["TurnStarted"];
/** The body of `PUT /api/users/{user}`, which replaces all permissions of a user. */
export type UpdateUserRequest = Schemas["UpdateUserRequest"];
/** A user of the hub. */
export type User = Schemas["User"];
/** The response of `GET /api/users`. */
export type UserList = Schemas["UserList"];
/** A process that a user started. */
export type UserProcess = Schemas["UserProcess"];
/** The response of `GET /v1/processes`. */
export type UserProcessList = Schemas["UserProcessList"];
/** A question or permission that a person must answer. */
export type Wait = Schemas["Wait"];
/** A person's answer. */
export type WaitAnswer = Schemas["WaitAnswer"];
/** The answer that is assumed if a wait expires. */
export type WaitDefault = Schemas["WaitDefault"];
/** A change in the open waits of a daemon. */
export type WaitEvent = Schemas["WaitEvent"];
/** The response of `GET /api/waits`. */
export type WaitInbox = Schemas["WaitInbox"];
/** The response of `GET /v1/waits`. */
export type WaitList = Schemas["WaitList"];
/** How a wait was settled. */
export type WaitOutcome = Schemas["WaitOutcome"];
/** The question or permission. */
export type WaitRequest = Schemas["WaitRequest"];
/** How a wait was settled. */
export type WaitSettlement = Schemas["WaitSettlement"];
/** How to treat a message that is sent while a turn is running. */
export type WhenBusy = Schemas["WhenBusy"];
/** A request about a worker, and whether the hub would accept it from the caller. */
export type WorkerAction = Schemas["WorkerAction"];
/** The response of `GET /api/runtimes/{runtime_id}/workers/{worker_id}`: the session, and what the caller may do with it. */
export type WorkerDetails = Schemas["WorkerDetails"];
/** The viewers and recent drivers of a worker. */
export type WorkerPresence = Schemas["WorkerPresence"];
/** The relay settings of a workspace. */
export type WorkspaceRelaySettings = Schemas["WorkspaceRelaySettings"];
