//! `tombolo up`: a daemon and a hub in one process, for one machine.

use std::{net::SocketAddr, path::Path, process::ExitCode};

use clap::Args;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::{
    daemon::{self, DaemonOptions, serve},
    hub::{DEFAULT_PORT, local_config},
    server_args::{DEFAULT_ENDPOINT, DEFAULT_HUB},
    serving::{self, ShutdownSignals, print_line},
    shell_word::quoted,
    traces::TraceOptions,
};

/// The service name in traces.
const SERVICE_NAME: &str = "tombolo-up";

/// The name of the daemon as a runtime of the hub.
const LOCAL_RUNTIME: &str = "local";

/// Start a daemon and a hub on this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Starts a daemon, and a hub with the daemon as its runtime `local`. Both listen on the loopback
address only. The daemon needs no token; the hub prints its token on the first start. Ctrl-C stops
both and all agents.

Examples:
  tombolo up
  tombolo up --port 0 --config agents.toml")]
pub(crate) struct UpOptions {
    /// Let the daemon listen on this port; 0 picks a free one
    #[arg(long, default_value_t = ::daemon::DEFAULT_PORT)]
    port: u16,
    /// Let the hub listen on this port; 0 picks a free one [default: 2470, or 0 with --port 0]
    #[arg(long)]
    hub_port: Option<u16>,
    /// Read your own agents from this configuration file
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Store the files of the daemon and the hub in this directory
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<std::path::PathBuf>,
    /// How the printed commands start this program, if not by its path: `npx tombolo`
    #[arg(long, env = "TOMBOLO_RUN_AS", hide = true)]
    run_as: Option<String>,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Runs both servers until SIGTERM or SIGINT, after printing example commands.
pub(crate) fn run(options: UpOptions, program: &Path) -> anyhow::Result<ExitCode> {
    let UpOptions { port, hub_port, config, data_dir, run_as, traces } = options;
    let run_as = run_as.unwrap_or_else(|| quoted(&program.display().to_string()));
    let options = DaemonOptions { port, config, data_dir, no_token: true, ..DaemonOptions::default() };
    serving::run(SERVICE_NAME, &options.log, &traces, || {
        let daemon = daemon::config(&options)?;
        let hub =
            local_config(&daemon.data_dir, hub_port.unwrap_or(if port == 0 { 0 } else { DEFAULT_PORT }));
        Ok(serve_until_signal(daemon, hub, run_as))
    })
}

async fn serve_until_signal(
    daemon: ::daemon::Config,
    hub: ::hub::Config,
    run_as: String,
) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let daemon = ::daemon::DaemonServer::bind(&daemon).await?;
    let mut hub = ::hub::Hub::bind(&hub).await?;
    hub.attach(LOCAL_RUNTIME.parse()?, daemon.in_process_service())?;
    let token = hub.take_new_token();
    let greeting = UpGreeting { daemon: daemon.address()?, hub: hub.address()?, run_as };
    print_line(&greeting.text(token.as_ref().map(|token| token.expose_secret())));
    // Stop the hub first: its viewers get a proper close before the daemon that they watch goes away.
    let stop_daemon = CancellationToken::new();
    let both = |stop| async {
        let hub = async {
            hub.serve(stop).await;
            stop_daemon.cancel();
        };
        tokio::join!(hub, serve(daemon, stop_daemon.clone()))
    };
    signals.run_until_signal(both).await;
    Ok(())
}

/// The printed text: the addresses of the servers, and commands to try.
struct UpGreeting {
    daemon: SocketAddr,
    hub: SocketAddr,
    run_as: String,
}

impl UpGreeting {
    fn text(&self, token: Option<&str>) -> String {
        let Self { daemon, hub, .. } = self;
        let token_line = match token {
            Some(token) => format!("admin token of the hub, shown once: {token}"),
            None => "The token of the hub was printed on its first start.".into(),
        };
        let export = token.map(|token| format!("  export TOMBOLO_HUB_TOKEN={token}"));
        let send = |options: &str, message: &str| self.api(&format!("acp send demo{options} -- '{message}'"));
        let mut lines = vec![
            format!("listening on http://{daemon}"),
            format!("hub on http://{hub}"),
            token_line,
            "Both accept connections from this machine only; the daemon needs no token. Ctrl-C stops them.\nTry in another terminal:".into(),
            "\n# list the agents".into(),
            self.api("agents list"),
            "\n# start a session with the mock agent and send a message".into(),
            self.api("sessions create hello -- --agent mock"),
            self.api("sessions send hello -- 'hello'"),
            "\n# see the same session through the hub".into(),
        ];
        lines.extend(export);
        lines.extend([
            self.hub("runtimes list"),
            self.hub("workers list local"),
            "\n# use the mock agent over ACP".into(),
            send(" --agent mock", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#),
            send("", r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#),
            send(
                "",
                r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"mock-1","prompt":[{"type":"text","text":"hello"}]}}"#,
            ),
            "\n# print its messages; add --follow for new ones".into(),
            self.api("acp stream demo"),
            "\n# list the files of its directory".into(),
            self.api("fs entries ."),
            "\n# stop it and delete the instance".into(),
            self.api("acp delete demo"),
        ]);
        lines.join("\n")
    }

    fn api(&self, command: &str) -> String {
        self.command(&format!("api {command}"), "--endpoint", self.daemon, DEFAULT_ENDPOINT)
    }

    fn hub(&self, command: &str) -> String {
        self.command(&format!("hub {command}"), "--hub", self.hub, DEFAULT_HUB)
    }

    /// A command line, with the option that names the server if it is not at its default address. The option is
    /// inserted at ` -- `, so that it stands before a long last argument.
    fn command(&self, command: &str, option: &str, address: SocketAddr, default: &str) -> String {
        let run_as = &self.run_as;
        let url = format!("http://{address}");
        let server = if url == default { String::new() } else { format!(" {option} {url}") };
        let (before, after) = command.split_once(" -- ").unwrap_or((command, ""));
        format!("  {run_as} {before}{server} {after}").trim_end().to_owned()
    }
}
