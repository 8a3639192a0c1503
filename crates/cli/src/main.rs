//! `tombolo`: daemon, hub, device and their clients in one program.
//!
//! Called as `sandbox-daemon` it is the daemon: `sandbox-daemon --token T --host H --port P` starts one, and
//! `sandbox-daemon <resource> <command>` calls its API.

mod agents;
mod answer_word;
mod api;
mod args;
mod audit;
mod chat;
mod command_network;
mod credentials;
mod daemon;
mod daemon_token;
mod deprecated;
mod device;
mod duration;
mod editor;
mod environment;
mod exit;
mod generate;
mod hub;
mod memory;
mod misplaced_command;
mod output;
mod progress;
mod reading_time;
mod secret;
mod server_args;
mod serving;
mod shell_word;
mod storage;
mod traces;
mod turn_answer;
mod up;
mod waits;

use std::{path::PathBuf, process::ExitCode};

use args::{SANDBOX_DAEMON, SandboxCommand, SandboxDaemon, ServeCommand, Tombolo, TomboloCommand};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let program = arguments.next().map(PathBuf::from).unwrap_or_default();
    let first = arguments.next().unwrap_or_default();
    // Checked before the command line is parsed: these two start often, and building the definition of all commands
    // would slow them down. This one starts for each instance of the mock agent,
    if first == mock_agent::ARGUMENT {
        return exit::code(mock_agent());
    }
    // and this one for each command that a device runs in a sandbox.
    if first == ::device::shell::init::ARGUMENT {
        return ::device::shell::init::serve(arguments);
    }
    install_tls_provider();
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
        TomboloCommand::Up(options) => exit::code(up::run(options, &program)),
        TomboloCommand::Serve(ServeCommand::Daemon(options)) => exit::code(daemon::run(&options)),
        TomboloCommand::Hub(options) => hub::run(*options),
        TomboloCommand::Device(options) => device::run(*options),
        TomboloCommand::Waits(options) => waits::run(*options),
        TomboloCommand::Audit(options) => audit::run(*options),
        TomboloCommand::Acp(options) => editor::run(&options),
        TomboloCommand::Chat(options) => chat::run(&options),
        TomboloCommand::Run(options) => chat::run_prompt(*options),
        TomboloCommand::Api(api) => api.resource.run(),
        TomboloCommand::Agents(options) => exit::code(agents::run(options)),
        TomboloCommand::Credentials(credentials) => exit::code(credentials.run()),
        TomboloCommand::Completions(options) => exit::code(generate::completions(&options)),
        TomboloCommand::Man(options) => exit::code(generate::man(&options)),
        TomboloCommand::Reference(options) => exit::code(generate::reference(&options)),
        TomboloCommand::MockAgent => exit::code(mock_agent()),
    }
}

/// Chooses the cryptography of all TLS connections. HTTP clients cannot be built before.
fn install_tls_provider() {
    // Fails only if a provider was installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn mock_agent() -> anyhow::Result<ExitCode> {
    let code = mock_agent::serve(std::io::stdin().lock(), std::io::stdout().lock())?;
    Ok(ExitCode::from(code))
}
