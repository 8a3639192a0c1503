import type { Schemas } from "./schema.js";

/** Whether a server is there. */
export type Health = Schemas["Health"];
/** What answers at an address. */
export type About = Schemas["About"];
/** One agent as a daemon knows it. */
export type Agent = Schemas["Agent"];
/** What an agent is installed as. */
export type InstallAgent = Schemas["Install"];
/** What an installation came to. */
export type InstalledAgent = Schemas["Installed"];
/** What is being done to install an agent. */
export type InstallProgress = Schemas["InstallProgress"];
/** One model of an agent. */
export type AgentModel = Schemas["Model"];
/** One way for an agent to behave. */
export type AgentMode = Schemas["AgentMode"];
/** One name in a directory. */
export type FileEntry = Schemas["Entry"];
/** What a path leads to. */
export type FileStat = Schemas["Stat"];
/** A file that was written. */
export type WrittenFile = Schemas["Written"];
/** A directory that is there. */
export type MadeDirectory = Schemas["Made"];
/** What is moved, and where to. */
export type MoveFile = Schemas["Move"];
/** What was moved. */
export type MovedFile = Schemas["Moved"];
/** What was unpacked. */
export type UnpackedArchive = Schemas["Unpacked"];
/** One MCP server. */
export type McpServer = Schemas["McpServer"];
/** Skills from one or more places. */
export type Skill = Schemas["Skill"];
/** One process. */
export type Process = Schemas["Process"];
/** What is to be run. */
export type StartProcess = Schemas["Start"];
/** A signal that can be sent to a process. */
export type Signal = Schemas["Signal"];
/** One piece of output. */
export type LogEntry = Schemas["LogEntry"];
/** Output from one place on, and what is gone of it. */
export type LogPage = Schemas["LogPage"];
/** The size of a terminal in characters. */
export type TerminalSize = Schemas["TerminalSize"];
/** What a terminal says about itself. */
export type TerminalNotice = Schemas["TerminalEvent"];
