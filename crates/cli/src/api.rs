//! `tombolo api <resource> <command>`: one command for every endpoint of the daemon.

mod acp;
mod agents;
mod fs;
mod info;
pub(crate) mod input;
mod mcp;
mod operations;
mod processes;
mod sessions;
mod skills;
mod waits;
mod workers;

use std::process::ExitCode;

use clap::{Args, Subcommand};

pub(crate) use input::text;
pub(crate) use operations::{operations, with_operations};
pub(crate) use sessions::{list as sessions_table, permission_mode, session_card};
pub(crate) use waits::choices;
pub(crate) use workers::print_frames;

use crate::{
    exit,
    server_args::{DaemonUrl, ResourceArgs},
};

/// The commands of one resource of a daemon.
type DaemonResource<C> = ResourceArgs<DaemonUrl, C>;

/// Call the HTTP API of a daemon.
#[derive(Debug, Args)]
#[command(
    after_help = exit::CODES,
    after_long_help = [
        "Every command prints a table, or with --json the unchanged response body. Results go to standard\n\
         output; errors, progress and notes go to standard error.\n\n\
         Examples:\n  \
           tombolo api agents list\n  \
           tombolo api acp stream demo --follow --json | jq .data\n  \
           tombolo api fs write /workspace/a.tar a.tar --endpoint https://box.example --token-file token\n\n",
        exit::CODES,
    ].concat(),
)]
pub(crate) struct ApiOptions {
    #[command(subcommand)]
    pub(crate) resource: ApiResource,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApiResource {
    /// Run ACP agents and exchange messages with them
    Acp(DaemonResource<acp::AcpCommand>),
    /// List and install agents
    Agents(DaemonResource<agents::DaemonAgentsCommand>),
    /// Create sessions, send messages and read events
    Sessions(DaemonResource<sessions::SessionsCommand>),
    /// List and answer the permission requests, questions and plans of all sessions
    Waits(DaemonResource<waits::DaemonWaitsCommand>),
    /// Watch sessions through the observation stream
    Workers(DaemonResource<workers::DaemonWorkersCommand>),
    /// Read and change files of the sandbox
    Fs(DaemonResource<fs::FsCommand>),
    /// Run processes in the sandbox
    Processes(DaemonResource<processes::ProcessesCommand>),
    /// Configure the MCP servers of a directory
    Mcp(DaemonResource<mcp::McpServersCommand>),
    /// Configure the skills of a directory
    Skills(DaemonResource<skills::SkillsCommand>),
    /// Show the health, metrics and API document of the daemon
    Info(DaemonResource<info::DaemonInfoCommand>),
}

impl ApiResource {
    /// Runs the command.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            ApiResource::Acp(resource) => resource.run(),
            ApiResource::Agents(resource) => resource.run(),
            ApiResource::Sessions(resource) => resource.run(),
            ApiResource::Waits(resource) => resource.run(),
            ApiResource::Workers(resource) => resource.run(),
            ApiResource::Fs(resource) => resource.run(),
            ApiResource::Processes(resource) => resource.run(),
            ApiResource::Mcp(resource) => resource.run(),
            ApiResource::Skills(resource) => resource.run(),
            ApiResource::Info(resource) => resource.run(),
        }
    }
}
