//! A command that is a tool.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use process::{ChildExit, ChildStream, ProcessSpec, RawProcess};
use protocol::relay::{
    Family, RelayError, RelayErrorCode,
    tool::{ToolCallResult, ToolContent, ToolDescriptor, ToolPart},
};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{
    Config, ConfigError,
    config::{self, CommandConfig, senseless},
    outcome::{self, RESULT_BYTES_MAX},
    shelf::{Offered, Shelf},
    tool::{Tool, Use, cancelled, late},
};
use crate::Roots;

/// Variables that every command gets: without these few programs work.
const ENV: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "TZ"];

/// The environment of the device, of which tools get what they are allowed.
pub type Variables = BTreeMap<OsString, OsString>;

/// A command that is a tool: it reads the arguments from its stdin, as JSON, and writes the answer.
struct Command {
    spec: ProcessSpec,
    wait: Duration,
}

impl Shelf {
    /// Puts the commands of a `tools.toml` on the shelf. `env` is the environment of the device, of which a command gets what it
    /// is allowed.
    ///
    /// # Errors
    /// If one makes no sense, or runs in a root that there is not.
    pub fn put_commands(&self, config: &Config, env: &Variables, roots: &Roots) -> Result<(), ConfigError> {
        let offered =
            config.tools.iter().map(|tool| offer(tool, config, env, roots)).collect::<Result<Vec<_>, _>>()?;
        let source = self.source("tools.toml");
        self.keep(&source, config.tools.iter().map(|tool| tool.name.clone()));
        match self.put(&source, offered).rejected.into_iter().next() {
            None => Ok(()),
            Some(rejected) => Err(senseless(&rejected.name, &rejected.reason)),
        }
    }
}

fn offer(
    tool: &CommandConfig,
    config: &Config,
    env: &Variables,
    roots: &Roots,
) -> Result<Offered, ConfigError> {
    let cwd = match &tool.cwd {
        None => config.directory.clone(),
        Some(root) => {
            let (lent, _) =
                roots.find(root, None).map_err(|error| senseless(tool.name.as_str(), &error.message))?;
            lent.directory.clone()
        }
    };
    let spec = spec(&tool.command, &config.directory, env, &tool.env).cwd(absolute(&cwd));
    let policy = tool.policy();
    let descriptor = ToolDescriptor {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: tool.input_schema.clone().unwrap_or_default(),
        output_schema: None,
        annotations: None,
        capability: Family::Tools,
        risk: policy.risk,
        approval_policy: policy.approval,
    };
    Ok((descriptor, Arc::new(Command { spec, wait: config::wait(tool.timeout_ms) })))
}

/// A program with an environment that is empty but for what is allowed.
pub(crate) fn spec(command: &[String], directory: &Path, env: &Variables, allowed: &[String]) -> ProcessSpec {
    let (word, args) = command.split_first().map_or(("", &[][..]), |(program, args)| (program, args));
    let program = program(word, directory).map_or_else(|| word.into(), PathBuf::into_os_string);
    let allowed = ENV.into_iter().chain(allowed.iter().map(String::as_str));
    let env = allowed.filter_map(|name| env.get_key_value(std::ffi::OsStr::new(name)));
    env.fold(ProcessSpec::new(program).args(args).env_clear(), |spec, (name, value)| spec.env(name, value))
}

/// Where a program is that is called by its path; others are looked for.
pub(crate) fn program(word: &str, directory: &Path) -> Option<PathBuf> {
    word.contains('/').then(|| absolute(&directory.join(word)))
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[async_trait]
impl Tool for Command {
    async fn call(&self, call: Use, cancel: &CancellationToken) -> Result<ToolCallResult, RelayError> {
        let deadline = Instant::now() + self.wait;
        let RawProcess { stdin, mut outputs, control } =
            process::spawn_raw(&self.spec).await.map_err(|error| {
                warn!(error = %protocol::ErrorChain(&error), "could not start a tool");
                RelayError::new(RelayErrorCode::ProviderError, "the tool could not be started")
            })?;
        // The queue is empty, so it is taken; who does not read it is answered by what it does instead.
        let _ = stdin.try_send(Bytes::from(serde_json::Value::Object(call.arguments).to_string()));
        stdin.close();
        let mut written = Written::default();
        let stopped = loop {
            tokio::select! {
                () = cancel.cancelled() => break cancelled(),
                () = sleep_until(deadline) => break late(self.wait),
                output = outputs.next() => match output {
                    Some(output) if output.stream == ChildStream::Stdout => written.push(&output.bytes),
                    Some(_) => {}
                    None => return Ok(answer(&written, control.wait().await, &control.stderr_tail())),
                }
            }
        };
        let exit = control.stop().await;
        match exit == ChildExit::UNKNOWN || control.has_survivors() {
            true => Err(stopped.with("lost", true)),
            false => Err(stopped),
        }
    }
}

/// What a command wrote: as much as an answer may have.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    seen: u64,
}

impl Written {
    fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let room = RESULT_BYTES_MAX.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn answer(written: &Written, exit: ChildExit, stderr: &str) -> ToolCallResult {
    let failed = !exit.success();
    let mut result = match outcome::json(&written.bytes) {
        Some(result) => result,
        None => outcome::text(&written.bytes, written.seen, failed),
    };
    if failed {
        result.is_error = true;
        let story = if stderr.is_empty() { exit.to_string() } else { format!("{stderr}\n{exit}") };
        match &mut result.content {
            ToolContent::Text(text) if text.is_empty() => *text = story,
            ToolContent::Text(text) => *text = format!("{}\n{story}", text.trim_end()),
            ToolContent::Parts(parts) => parts.push(ToolPart::Text { text: story }),
        }
    }
    result
}
