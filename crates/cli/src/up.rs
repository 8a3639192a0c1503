//! `tombolo up`: everything on one machine, to try it out.

use std::{net::SocketAddr, path::Path, process::ExitCode};

use clap::Args;

use crate::{
    api::DEFAULT_ENDPOINT,
    daemon::{self, DaemonOptions},
    traces::TraceOptions,
};

/// How it is tried out.
#[derive(Debug, Args)]
#[command(after_help = "\
It listens on this machine only and needs no token. Ctrl-C ends it and every agent.

Examples:
  tombolo up
  tombolo up --port 0 --config agents.toml")]
pub(crate) struct UpOptions {
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 2468)]
    port: u16,
    /// A configuration file: agents of your own
    #[arg(long, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Where the daemon keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    data_dir: Option<std::path::PathBuf>,
    #[command(flatten)]
    traces: TraceOptions,
}

/// Serves until a signal ends it, after saying what to try.
pub(crate) fn run(options: UpOptions, program: &Path) -> anyhow::Result<ExitCode> {
    let UpOptions { port, config, data_dir, traces } = options;
    let options = DaemonOptions { port, config, data_dir, traces, no_token: true, ..DaemonOptions::unsaid() };
    daemon::serve(&options, |address| greeting(address, program))
}

/// Where it listens, and commands that can be copied as they are.
fn greeting(address: SocketAddr, program: &Path) -> String {
    let endpoint = format!("http://{address}");
    let program = quoted(&program.display().to_string());
    let there = if endpoint == DEFAULT_ENDPOINT { String::new() } else { format!(" --endpoint {endpoint}") };
    let api = |command: &str| {
        let (verb, rest) = command.split_once(" -- ").unwrap_or((command, ""));
        format!("  {program} api {verb}{there} {rest}").trim_end().to_owned()
    };
    let send = |first: &str, message: &str| api(&format!("acp send demo{first} -- '{message}'"));
    [
        format!("listening on {endpoint}"),
        "Only this machine can reach it, and it needs no token. Ctrl-C ends it. Try, in another terminal:".into(),
        "\n# which agents there are".into(),
        api("agents list"),
        "\n# talk to the mock agent".into(),
        send(" --agent mock", r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#),
        send("", r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#),
        send(
            "",
            r#"{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"mock-1","prompt":[{"type":"text","text":"hello"}]}}"#,
        ),
        "\n# everything it said so far; with --follow also what it says next".into(),
        api("acp stream demo"),
        "\n# the files it sees".into(),
        api("fs entries ."),
        "\n# stop it".into(),
        api("acp delete demo"),
    ]
    .join("\n")
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
