//! Reads text, JSON and files from the command line, local files or standard input.

use std::{io::IsTerminal, path::Path, str::FromStr};

use client::Upload;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::{
    environment,
    exit::{CommandError, local},
};

/// Largest text read from standard input; the daemon accepts no larger message.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// As a file name or an argument: read standard input.
const STDIN: &str = "-";

/// The argument, or standard input if the argument is `-` or missing.
pub(super) async fn text(
    given: Option<String>,
    output: crate::output::CommandOutput,
) -> Result<String, CommandError> {
    match given {
        Some(text) if text != STDIN => Ok(text),
        _ => {
            if std::io::stdin().is_terminal() {
                output.print_note("reading standard input: end it with Ctrl-D");
            }
            let mut text = String::new();
            let mut stdin = tokio::io::stdin().take(TEXT_BYTES_MAX + 1);
            stdin.read_to_string(&mut text).await.map_err(|error| local("read standard input", error))?;
            if text.len() as u64 > TEXT_BYTES_MAX {
                return Err(CommandError::Usage(format!(
                    "standard input is larger than the limit of {TEXT_BYTES_MAX} bytes"
                )));
            }
            Ok(text)
        }
    }
}

/// The argument or standard input, checked to be JSON.
pub(super) async fn json(
    given: Option<String>,
    output: crate::output::CommandOutput,
) -> Result<Box<RawValue>, CommandError> {
    let text = text(given, output).await?;
    serde_json::from_str(&text)
        .map_err(|error| CommandError::Usage(format!("the argument is not valid JSON: {error}")))
}

/// An upload of a local file or of standard input.
pub(super) async fn upload(given: Option<&Path>) -> Result<Upload, CommandError> {
    match given {
        Some(path) if path.as_os_str() != STDIN => {
            Upload::file(path).await.map_err(|error| local(&format!("read `{}`", path.display()), error))
        }
        _ => Ok(Upload::reader(tokio::io::stdin())),
    }
}

/// A reader of a local file or of standard input.
pub(super) async fn reader(given: Option<&Path>) -> Result<Box<dyn AsyncRead + Unpin>, CommandError> {
    match given {
        Some(path) if path.as_os_str() != STDIN => {
            let file = tokio::fs::File::open(path).await;
            Ok(Box::new(file.map_err(|error| local(&format!("read `{}`", path.display()), error))?))
        }
        _ => Ok(Box::new(tokio::io::stdin())),
    }
}

/// How a variable is given on the command line.
pub(crate) const VARIABLE: &str = "NAME[=VALUE]";

/// `NAME=VALUE`, or `NAME` for the value that this process has, which keeps secrets out of the arguments. `Debug` hides the value.
#[derive(Clone)]
pub(crate) struct EnvironmentVariable {
    pub(super) name: String,
    pub(super) value: String,
}

impl EnvironmentVariable {
    /// Name and value of each variable.
    pub(crate) fn pairs<T: FromIterator<(String, String)>>(variables: &[Self]) -> T {
        variables.iter().map(|one| (one.name.clone(), one.value.clone())).collect()
    }
}

impl FromStr for EnvironmentVariable {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = match text.split_once('=') {
            Some((name, value)) => return Ok(Self { name: name.into(), value: value.into() }),
            None => environment::variable(text),
        };
        let value = value.ok_or_else(|| format!("{text} is not set here: set it, or write {text}=VALUE"))?;
        let value = value.into_string().map_err(|_| format!("the value of {text} is not valid UTF-8"))?;
        Ok(Self { name: text.into(), value })
    }
}

impl std::fmt::Debug for EnvironmentVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=***", self.name)
    }
}
