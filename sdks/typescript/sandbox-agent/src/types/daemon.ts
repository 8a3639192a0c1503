import type { Schemas } from "./schema.js";

/** Health of a server. */
export type Health = Schemas["Health"];
/** Name and version of a server. */
export type ServerInfo = Schemas["About"];
/** An agent, and whether it is installed. */
export type Agent = Schemas["Agent"];
/** Options of an installation. */
export type InstallAgent = Schemas["Install"];
/** Result of an installation. */
export type InstalledAgent = Schemas["Installed"];
/** Progress of an installation. */
export type InstallProgress = Schemas["InstallProgress"];
/** A model of an agent. */
export type AgentModel = Schemas["Model"];
/** A mode of an agent. */
export type AgentMode = Schemas["AgentMode"];
/** An entry of a directory. */
export type FileEntry = Schemas["Entry"];
/** Type, size and times of a file. */
export type FileStat = Schemas["Stat"];
/** Result of writing a file. */
export type WrittenFile = Schemas["Written"];
/** Result of creating a directory. */
export type CreatedDirectory = Schemas["Made"];
/** Request to move a file. */
export type MoveFile = Schemas["Move"];
/** Result of moving a file. */
export type MovedFile = Schemas["Moved"];
/** Result of unpacking an archive. */
export type UnpackedArchive = Schemas["Unpacked"];
/** Configuration of an MCP server. */
export type McpServer = Schemas["McpServer"];
/** Configuration of a skill. */
export type Skill = Schemas["Skill"];
/** A process in the sandbox. */
export type Process = Schemas["Process"];
/** Request to start a process. */
export type StartProcess = Schemas["Start"];
/** Name of a signal. */
export type Signal = Schemas["Signal"];
/** One piece of output. */
export type LogEntry = Schemas["LogEntry"];
/** A page of output, and the gap before it if output was evicted. */
export type LogPage = Schemas["LogPage"];
/** Size of a terminal in characters. */
export type TerminalSize = Schemas["TerminalSize"];
/** A control frame of a terminal. */
export type TerminalNotice = Schemas["TerminalEvent"];
