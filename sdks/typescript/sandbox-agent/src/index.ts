export {
  ConnectionError,
  type Problem,
  ProblemError,
  ProtocolError,
  type ReconnectOptions,
} from "@tombolo/acp-http-client/transport";
export type { ConnectOptions, DisconnectOptions } from "./agent/agent-link.js";
export type * from "./agent/events.js";
export type { AgentFeature, ConnectedAgent, SessionChoice } from "./agent/features.js";
export type { SessionInfo } from "./agent/session-tracker.js";
export type { SessionMcpServer, SessionOptions, StopReason } from "./agent/sessions.js";
export { SandboxAgentClient, type SandboxAgentOptions } from "./client.js";
export type { Agents, InstallEvent, OfferOptions } from "./daemon/agents.js";
export type { Config, McpServers, Skills } from "./daemon/config.js";
export type { FileContent, Files, OpenFile, ReadFileOptions, WriteFileOptions } from "./daemon/files.js";
export type { EndProcessOptions, LogsOptions, Processes } from "./daemon/processes.js";
export type {
  AnswerOptions,
  ListSessionsOptions,
  SearchOptions,
  SendOptions,
  SessionEventsOptions,
  Sessions,
} from "./daemon/sessions.js";
export type { Terminal, TerminalEvent, TerminalNotice, TerminalOptions } from "./daemon/terminal.js";
export type { Waits } from "./daemon/waits.js";
export {
  AgentEndedError,
  AgentFailedError,
  AlreadyConnectedError,
  GapError,
  NotConnectedError,
  ObservationError,
  RelayRequestError,
  SessionEndedError,
  UnsupportedError,
} from "./errors.js";
export type * from "./generated/aliases.js";
export { HubClient } from "./hub/client.js";
export type { Devices, Grants } from "./hub/devices.js";
export type {
  EnvironmentCredentials,
  Environments,
  RelayRequestOptions,
  RelayStreamItem,
} from "./hub/environments.js";
export type { ObserveOptions } from "./hub/observe.js";
export type { Relay } from "./hub/relay.js";
export type { Runtimes } from "./hub/runtimes.js";
export type { Tokens } from "./hub/tokens.js";
export type { Users } from "./hub/users.js";
export type { HubWaits } from "./hub/waits.js";
export type { CallOptions, OpenWebSocket, ServerOptions } from "./options.js";
export { MemoryStore } from "./store/memory.js";
export type { SessionMetadata, SessionStore, StoredSession } from "./store/store.js";
export type * from "./types/relay.js";
export type { Schemas } from "./types/schema.js";
export type * from "./types/session.js";
