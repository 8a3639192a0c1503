import type { Schemas } from "./schema.js";

/** Health of a server. */
export type HealthStatus = Schemas["HealthStatus"];
/** Name and version of a server. */
export type ServerInfo = Schemas["ServerInfo"];
/** An agent, and whether it is installed. */
export type Agent = Schemas["Agent"];
/** Options of an installation. */
export type InstallAgentRequest = Schemas["InstallAgentRequest"];
/** Result of an installation. */
export type AgentInstalled = Schemas["AgentInstalled"];
/** Progress of an installation. */
export type InstallProgress = Schemas["InstallProgress"];
/** A model of an agent. */
export type AgentModel = Schemas["AgentModel"];
/** A mode of an agent. */
export type AgentMode = Schemas["AgentMode"];
/** An entry of a directory. */
export type DirectoryEntry = Schemas["DirectoryEntry"];
/** Type, size and times of a file. */
export type FileMetadata = Schemas["FileMetadata"];
/** Result of writing a file. */
export type FileWritten = Schemas["FileWritten"];
/** Result of creating a directory. */
export type DirectoryCreated = Schemas["DirectoryCreated"];
/** Request to move a file. */
export type MoveFileRequest = Schemas["MoveFileRequest"];
/** Result of moving a file. */
export type FileMoved = Schemas["FileMoved"];
/** Result of unpacking an archive. */
export type ArchiveUnpacked = Schemas["ArchiveUnpacked"];
/** Configuration of an MCP server. */
export type McpServer = Schemas["McpServer"];
/** Configuration of a skill. */
export type Skill = Schemas["Skill"];
/** A process in the sandbox. */
export type UserProcess = Schemas["UserProcess"];
/** Request to start a process. */
export type StartProcessRequest = Schemas["StartProcessRequest"];
/** Name of a signal. */
export type ProcessSignal = Schemas["ProcessSignal"];
/** One piece of output. */
export type ProcessLogEntry = Schemas["ProcessLogEntry"];
/** A page of output, and the gap before it if output was evicted. */
export type ProcessLogPage = Schemas["ProcessLogPage"];
/** Size of a terminal in characters. */
export type TerminalSize = Schemas["TerminalSize"];
/** A control frame of a terminal. */
export type TerminalNotice = Schemas["TerminalEvent"];
