import type { Schemas } from "./schema.js";

/** Health of a server. */
export type Health = Schemas["HealthStatus"];
/** Name and version of a server. */
export type ServerInfo = Schemas["ServerInfo"];
/** An agent, and whether it is installed. */
export type Agent = Schemas["Agent"];
/** Options of an installation. */
export type InstallAgent = Schemas["InstallAgentRequest"];
/** Result of an installation. */
export type InstalledAgent = Schemas["AgentInstalled"];
/** Progress of an installation. */
export type InstallProgress = Schemas["InstallProgress"];
/** A model of an agent. */
export type AgentModel = Schemas["AgentModel"];
/** A mode of an agent. */
export type AgentMode = Schemas["AgentMode"];
/** An entry of a directory. */
export type FileEntry = Schemas["DirectoryEntry"];
/** Type, size and times of a file. */
export type FileStat = Schemas["FileMetadata"];
/** Result of writing a file. */
export type WrittenFile = Schemas["FileWritten"];
/** Result of creating a directory. */
export type CreatedDirectory = Schemas["DirectoryCreated"];
/** Request to move a file. */
export type MoveFile = Schemas["MoveFileRequest"];
/** Result of moving a file. */
export type MovedFile = Schemas["FileMoved"];
/** Result of unpacking an archive. */
export type UnpackedArchive = Schemas["ArchiveUnpacked"];
/** Configuration of an MCP server. */
export type McpServer = Schemas["McpServer"];
/** Configuration of a skill. */
export type Skill = Schemas["Skill"];
/** A process in the sandbox. */
export type Process = Schemas["UserProcess"];
/** Request to start a process. */
export type StartProcess = Schemas["StartProcessRequest"];
/** Name of a signal. */
export type Signal = Schemas["ProcessSignal"];
/** One piece of output. */
export type LogEntry = Schemas["ProcessLogEntry"];
/** A page of output, and the gap before it if output was evicted. */
export type LogPage = Schemas["ProcessLogPage"];
/** Size of a terminal in characters. */
export type TerminalSize = Schemas["TerminalSize"];
/** A control frame of a terminal. */
export type TerminalNotice = Schemas["TerminalEvent"];
