//! `tombolo up`: everything on one machine, to try it out.

use std::{net::SocketAddr, path::Path, process::ExitCode};

use clap::Args;
use tokio_util::sync::CancellationToken;

use crate::{
    api::DEFAULT_ENDPOINT,
    daemon::{self, DaemonOptions, serve},
    hub::{DEFAULT_HUB, PORT, beside},
    serving::{self, Farewell, greet},
    traces::TraceOptions,
};

/// What both are called in traces.
const SERVICE: &str = "tombolo-up";

/// What the hub calls the daemon beside it.
const LOCAL: &str = "local";

/// How it is tried out.
#[derive(Debug, Args)]
#[command(after_help = "\
A daemon and a hub that knows it as `local`. They listen on this machine only. The daemon needs no
token; that of the hub is printed the first time. Ctrl-C ends them and every agent.

Examples:
  tombolo up
  tombolo up --port 0 --config agents.toml")]
pub(crate) struct UpOptions {
    /// The port that the daemon listens on; 0 for any that is free
    #[arg(long, default_value_t = 2468)]
    port: u16,
    /// The port that the hub listens on; 0 for any that is free [default: 2470, or 0 with --port 0]
    #[arg(long)]
    hub_port: Option<u16>,
    /// A configuration file: agents of your own
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Where the daemon keeps its own files, and the hub below them
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<std::path::PathBuf>,
    /// How people run this program, where that is not by its own name: with `npx`
    #[arg(long, env = "TOMBOLO_RUN_AS", hide = true)]
    run_as: Option<String>,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Serves until a signal ends it, after saying what to try.
pub(crate) fn run(options: UpOptions, program: &Path) -> anyhow::Result<ExitCode> {
    let UpOptions { port, hub_port, config, data_dir, run_as, traces } = options;
    let run_as = run_as.unwrap_or_else(|| quoted(&program.display().to_string()));
    let options = DaemonOptions { port, config, data_dir, no_token: true, ..DaemonOptions::unsaid() };
    serving::run(SERVICE, (&options.log, &traces), || {
        let daemon = daemon::config(&options)?;
        let hub = beside(&daemon.data_dir, hub_port.unwrap_or(if port == 0 { 0 } else { PORT }));
        Ok(until_a_signal(daemon, hub, run_as))
    })
}

async fn until_a_signal(daemon: ::daemon::Config, hub: ::hub::Config, run_as: String) -> anyhow::Result<()> {
    let signals = Farewell::listen()?;
    let daemon = ::daemon::Server::bind(&daemon).await?;
    let mut hub = ::hub::Hub::bind(&hub).await?;
    hub.attach(LOCAL.parse()?, daemon.inside())?;
    let token = hub.take_new_token();
    let greeting = Greeting { daemon: daemon.address()?, hub: hub.address()?, run_as };
    greet(&greeting.text(token.as_ref().map(|token| token.reveal())));
    // Nobody is cut off in the middle: those who watch are sent away before what they watch ends.
    let last = CancellationToken::new();
    let both = |stop| async {
        let hub = async {
            hub.serve(stop).await;
            last.cancel();
        };
        tokio::join!(hub, serve(daemon, last.clone()))
    };
    signals.end(both).await;
    Ok(())
}

/// Where everything is, and commands that can be copied as they are.
struct Greeting {
    daemon: SocketAddr,
    hub: SocketAddr,
    run_as: String,
}

impl Greeting {
    fn text(&self, token: Option<&str>) -> String {
        let Self { daemon, hub, .. } = self;
        let known = match token {
            Some(token) => format!("token of the hub, shown only now: {token}"),
            None => "The token of the hub was shown the first time.".into(),
        };
        let export = token.map(|token| format!("  export TOMBOLO_HUB_TOKEN={token}"));
        let send = |first: &str, message: &str| self.api(&format!("acp send demo{first} -- '{message}'"));
        let mut lines = vec![
            format!("listening on http://{daemon}"),
            format!("hub on http://{hub}"),
            known,
            "Only this machine can reach them; the daemon needs no token. Ctrl-C ends both. Try, in another terminal:".into(),
            "\n# which agents there are".into(),
            self.api("agents list"),
            "\n# talk to the mock agent in a session".into(),
            self.api("sessions create hello -- --agent mock"),
            self.api("sessions send hello -- 'hello'"),
            "\n# the same sessions through the hub, with its token".into(),
        ];
        lines.extend(export);
        lines.extend([
            self.hub("runtimes list"),
            self.hub("workers list local"),
            "\n# the mock agent over ACP".into(),
            send(" --agent mock", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#),
            send("", r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#),
            send(
                "",
                r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"mock-1","prompt":[{"type":"text","text":"hello"}]}}"#,
            ),
            "\n# everything it said so far; with --follow also what it says next".into(),
            self.api("acp stream demo"),
            "\n# the files it sees".into(),
            self.api("fs entries ."),
            "\n# stop it".into(),
            self.api("acp delete demo"),
        ]);
        lines.join("\n")
    }

    fn api(&self, command: &str) -> String {
        self.command("api", command, self.daemon, DEFAULT_ENDPOINT)
    }

    fn hub(&self, command: &str) -> String {
        self.command("hub", command, self.hub, DEFAULT_HUB)
    }

    fn command(&self, of: &str, command: &str, address: SocketAddr, usual: &str) -> String {
        let run_as = &self.run_as;
        let endpoint = format!("http://{address}");
        let there = if endpoint == usual { String::new() } else { format!(" --endpoint {endpoint}") };
        let (verb, rest) = command.split_once(" -- ").unwrap_or((command, ""));
        format!("  {run_as} {of} {verb}{there} {rest}").trim_end().to_owned()
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-' | b'+');
    if !word.is_empty() && word.bytes().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
