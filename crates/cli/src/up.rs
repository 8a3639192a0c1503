//! `tombolo up`: a daemon and a hub in one process, for one machine.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;

use crate::{
    daemon::{self, DaemonOptions, ResolvedOptions, TokenSource, serve},
    daemon_token,
    hub::{DEFAULT_PORT, local_config},
    server_args::{DEFAULT_ENDPOINT, DEFAULT_HUB},
    serving::{self, ShutdownSignals, print_line},
    shell_word::quoted,
    storage,
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
address only. The daemon generates a token, which commands of the same user find by themselves; the
hub prints its token on the first start. Ctrl-C stops both and all agents.

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
    /// Let every user of this machine use the daemon, without a token
    #[arg(long)]
    no_token: bool,
    /// How the printed commands start this program, if not by its path: `npx tombolo`
    #[arg(long, env = "TOMBOLO_RUN_AS", hide = true)]
    run_as: Option<String>,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Runs both servers until SIGTERM or SIGINT, after printing example commands.
pub(crate) fn run(options: UpOptions, program: &Path) -> anyhow::Result<ExitCode> {
    let UpOptions { port, hub_port, config, data_dir, no_token, run_as, traces } = options;
    let run_as = run_as.unwrap_or_else(|| quoted(&program.display().to_string()));
    let options = DaemonOptions { port, config, data_dir, no_token, ..DaemonOptions::default() };
    serving::run(SERVICE_NAME, &options.log, &traces, || {
        let daemon = daemon::resolve(&options)?;
        let hub = local_config(
            &daemon.config.data_dir,
            hub_port.unwrap_or(if port == 0 { 0 } else { DEFAULT_PORT }),
        );
        Ok(serve_until_signal(daemon, hub, run_as))
    })
}

async fn serve_until_signal(
    options: ResolvedOptions,
    hub: ::hub::Config,
    run_as: String,
) -> anyhow::Result<()> {
    let signals = ShutdownSignals::listen()?;
    let daemon = ::daemon::DaemonServer::bind(&options.config).await?;
    let mut hub = ::hub::Hub::bind(&hub).await?;
    hub.attach(LOCAL_RUNTIME.parse()?, daemon.in_process_service())?;
    let token = hub.take_new_token();
    let address = daemon.address()?;
    let data_dir = &options.config.data_dir;
    let record = options.token.publish(data_dir, address).await;
    let greeting = UpGreeting {
        daemon: address,
        hub: hub.address()?,
        run_as,
        token: options.token,
        // In another terminal, a relative path would be another file.
        token_file: std::path::absolute(daemon_token::path(data_dir))?,
        is_token_found: options.token != TokenSource::Generated
            || storage::data_dir(None).ok().as_ref() == Some(data_dir),
    };
    print_line(&greeting.text(token.as_ref().map(|token| token.expose_secret())));
    // Stop the hub first: its viewers get a proper close before the daemon that they watch goes away.
    let stop_daemon = CancellationToken::new();
    let both = |stop| async {
        let hub = async {
            hub.serve(stop).await;
            stop_daemon.cancel();
        };
        tokio::join!(hub, serve(daemon, record, stop_daemon.clone()))
    };
    signals.run_until_signal(both).await;
    Ok(())
}

/// The printed text: the addresses of the servers, and commands to try.
struct UpGreeting {
    daemon: SocketAddr,
    hub: SocketAddr,
    run_as: String,
    token: TokenSource,
    /// The file with the daemon's token, if it generated one.
    token_file: PathBuf,
    /// Whether commands need no option to find the token.
    is_token_found: bool,
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
            self.access(),
            "Ctrl-C stops them.\nTry in another terminal:".into(),
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

    /// Which clients the servers accept.
    fn access(&self) -> String {
        let token = match self.token {
            TokenSource::Generated => {
                format!(
                    "The daemon's token is in {}; commands of your user find it.",
                    self.token_file.display()
                )
            }
            TokenSource::Given => "The daemon's token is the one in TOMBOLO_TOKEN.".into(),
            TokenSource::None => "Every user of this machine may use the daemon.".into(),
        };
        format!("Both accept connections from this machine only. {token}")
    }

    fn api(&self, command: &str) -> String {
        let mut server = server_option("--endpoint", self.daemon, DEFAULT_ENDPOINT);
        if !self.is_token_found {
            server += &format!(" --token-file {}", quoted(&self.token_file.display().to_string()));
        }
        self.command(&format!("api {command}"), &server)
    }

    fn hub(&self, command: &str) -> String {
        self.command(&format!("hub {command}"), &server_option("--hub", self.hub, DEFAULT_HUB))
    }

    /// A command line, with the options that name the server. They are inserted at ` -- `, so that they stand before a long
    /// last argument.
    fn command(&self, command: &str, server: &str) -> String {
        let run_as = &self.run_as;
        let (before, after) = command.split_once(" -- ").unwrap_or((command, ""));
        format!("  {run_as} {before}{server} {after}").trim_end().to_owned()
    }
}

/// The option that names a server, if it is not at its default address.
fn server_option(option: &str, address: SocketAddr, default: &str) -> String {
    let url = format!("http://{address}");
    if url == default { String::new() } else { format!(" {option} {url}") }
}
