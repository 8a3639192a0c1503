//! `tombolo`: one program, three roles.
//!
//! Called as `sandbox-daemon` it is the daemon: `sandbox-daemon --token T --host H --port P` starts it and
//! `sandbox-daemon <resource> <verb>` speaks to one.

mod agents;
mod api;
mod args;
mod audit;
mod chat;
mod credentials;
mod daemon;
mod device;
mod editor;
mod environment;
mod exit;
mod generate;
mod hub;
mod memory;
mod output;
mod progress;
mod secret;
mod serving;
mod storage;
mod traces;
mod up;
mod waits;

use std::{path::PathBuf, process::ExitCode};

use args::{Command, SANDBOX_DAEMON, SandboxCommand, SandboxDaemon, Serve, Tombolo};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().map(PathBuf::from).unwrap_or_default();
    let first = arguments.next().unwrap_or_default();
    // One is started for each instance of the mock, which needs nothing of what is defined below.
    if first == ::agents::mock::ARGUMENT {
        return exit::code(mock_agent());
    }
    // This one is started for each command that a device runs in a sandbox.
    if first == ::device::shell::init::ARGUMENT {
        return ::device::shell::init::serve(arguments);
    }
    let as_sandbox_daemon = program.file_name().is_some_and(|name| name == SANDBOX_DAEMON);
    if let Some(options) = args::daemon_options(as_sandbox_daemon) {
        return exit::code(daemon::run(&options));
    }
    if as_sandbox_daemon {
        let SandboxDaemon { options, command } = SandboxDaemon::parse_arguments();
        return match command {
            None => exit::code(daemon::run(&options)),
            Some(SandboxCommand::Resource(resource)) => resource.run(),
            Some(SandboxCommand::MockAgent) => exit::code(mock_agent()),
        };
    }
    match Tombolo::parse_arguments().command {
        Command::Up(options) => exit::code(up::run(options, &program)),
        Command::Serve(Serve::Daemon(options)) => exit::code(daemon::run(&options)),
        Command::Hub(options) => hub::run(*options),
        Command::Device(options) => device::run(*options),
        Command::Waits(options) => waits::run(*options),
        Command::Audit(options) => audit::run(*options),
        Command::Acp(options) => editor::run(&options),
        Command::Chat(options) => chat::run(&options),
        Command::Api(api) => api.resource.run(),
        Command::Agents(options) => exit::code(agents::run(options)),
        Command::Credentials(credentials) => exit::code(credentials.run()),
        Command::Completions(options) => exit::code(generate::completions(&options)),
        Command::Man(options) => exit::code(generate::man(&options)),
        Command::Reference(options) => exit::code(generate::reference(&options)),
        Command::MockAgent => exit::code(mock_agent()),
    }
}

fn mock_agent() -> anyhow::Result<ExitCode> {
    let code = ::agents::mock::serve(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::from(code))
}
