//! `run_command`.

use std::collections::BTreeMap;

use futures_util::StreamExt;
use protocol::relay::shell::{CommandOutcome, StartCommand};
use relay::{
    Environment,
    environment::{Error, Place, Said, Shell},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::invalid;
use crate::{
    answer,
    output::{OutputExcerpt, ProgressReporter},
};

/// How long a command may take if the request has no timeout.
const TIMEOUT_MS: u64 = 120_000;

/// The longest timeout of a request.
const TIMEOUT_MS_MAX: u64 = 3_600_000;

#[derive(Deserialize, JsonSchema)]
pub(super) struct RunCommandArguments {
    /// The shell command line to run.
    command: String,
    /// The directory to run in. Defaults to the first root directory of the device.
    #[serde(default)]
    cwd: Option<String>,
    /// Text to pass as standard input.
    #[serde(default)]
    stdin: Option<String>,
    /// Environment variables. Only those that the device's owner allows are accepted.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Timeout in milliseconds. Default 120000, maximum 3600000.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// The structured result of a command. It has the output too: many agents show their model only what is structured.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunCommandResult {
    /// Standard output and standard error, in the order in which they were written.
    output: String,
    /// The exit code; 128 plus the number of the signal if a signal ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    /// How long the command took, in milliseconds.
    duration_ms: u64,
    /// Whether a part of the output is left out.
    is_output_cut: bool,
}

pub(super) async fn run_command(
    environment: Environment,
    wanted: RunCommandArguments,
    mut progress: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let cwd = match wanted.cwd.as_deref().map(|cwd| environment.files().place(cwd)).transpose()? {
        Some(Place::Inside { seen, .. }) => Some(seen),
        Some(Place::Above { .. }) => {
            return Err(invalid("commands must run in a root directory of the device, not above it"));
        }
        None => None,
    };
    let command = StartCommand {
        command: Some(wanted.command),
        cwd,
        env: wanted.env,
        timeout_ms: Some(wanted.timeout_ms.unwrap_or(TIMEOUT_MS).min(TIMEOUT_MS_MAX)),
        ..StartCommand::default()
    };
    let mut command = environment.shell().start(command).await?;
    let (id, shell, stdin) = (command.id().to_owned(), environment.shell(), wanted.stdin);
    // Write the input while reading the output, or both sides could block. A command that does not read its input, or has ended,
    // is not a failure.
    let input = async move {
        if let Some(stdin) = stdin {
            let _ = shell.input(&id, stdin.as_bytes()).await;
        }
        let _ = shell.end_input(&id).await;
        std::future::pending::<()>().await;
    };
    let mut output = OutputExcerpt::default();
    let read = async {
        loop {
            match command.next().await {
                Some(Said::Stdout(bytes) | Said::Stderr(bytes)) => {
                    output.add(&bytes);
                    progress.tell(&bytes).await;
                }
                Some(Said::Ended(ended)) => break ended,
                None => break Err(Error::Unconfirmed),
            }
        }
    };
    let ended = tokio::select! {
        ended = read => ended,
        () = input => Err(Error::Unconfirmed),
    };
    match ended {
        Ok(ended) => Ok(report(&output, &ended)),
        // The output so far may explain the failure.
        Err(Error::ShellTimeout) => {
            let mut failed = answer::failed_without_structure(&Error::ShellTimeout);
            failed.content.insert(0, rmcp::model::ContentBlock::text(output.text()));
            Ok(failed)
        }
        Err(error) => Err(error),
    }
}

fn report(output: &OutputExcerpt, ended: &CommandOutcome) -> CallToolResult {
    let signal = ended.signal.as_ref().map(|signal| json!(signal).to_string().trim_matches('"').to_owned());
    let how = match (&signal, ended.exit_code) {
        (Some(signal), _) => format!("ended by signal {signal}"),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => "ended".into(),
    };
    let is_output_cut = output.left_out() > 0 || ended.truncated == Some(true);
    let output = output.text();
    let mut text = output.clone();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let cut = if is_output_cut { ", output cut" } else { "" };
    text.push_str(&format!("[{how} after {} ms{cut}]", ended.duration_ms));
    let (exit_code, duration_ms) = (ended.exit_code, ended.duration_ms);
    let result = RunCommandResult { output, exit_code, signal, duration_ms, is_output_cut };
    answer::both(text, json!(result))
}
