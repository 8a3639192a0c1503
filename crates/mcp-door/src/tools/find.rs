//! `search_files`.

use std::fmt::Write;

use futures_util::TryStreamExt;
use protocol::relay::file::{CaseSensitivity, SearchMatch};
use relay::{
    Environment,
    environment::{Error, FileOperator, Found, Search},
};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{answer, output::ProgressReporter};

/// The number of matches if the request has no limit.
const MATCHES: u64 = 200;

/// The size of a result: as much as a model can use.
const TEXT_BYTES_MAX: usize = 64 << 10;

/// The size to which a line is shortened.
const LINE_BYTES_MAX: usize = 500;

#[derive(Deserialize, JsonSchema)]
pub(super) struct SearchFilesArguments {
    /// The text or regular expression to search for.
    pattern: String,
    /// The directory or file to search. Defaults to the first root directory of the device; `/` searches all of them.
    #[serde(default)]
    path: Option<String>,
    /// Treat the pattern as a regular expression instead of plain text.
    #[serde(default)]
    regex: bool,
    /// Ignore upper and lower case.
    #[serde(default)]
    ignore_case: bool,
    /// Search only files that match one of these globs, such as `*.rs`.
    #[serde(default)]
    include: Vec<String>,
    /// Skip files that match one of these globs.
    #[serde(default)]
    exclude: Vec<String>,
    /// Number of context lines around each match.
    #[serde(default)]
    context: Option<u32>,
    /// Maximum number of matches.
    #[serde(default)]
    limit: Option<u64>,
}

pub(super) async fn search_files(
    environment: Environment,
    wanted: SearchFilesArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let mut found = environment.files().search(Search {
        path: wanted.path.unwrap_or_else(|| ".".into()),
        pattern: wanted.pattern,
        regex: wanted.regex,
        case: wanted.ignore_case.then_some(CaseSensitivity::Insensitive),
        include: wanted.include,
        exclude: wanted.exclude,
        context: wanted.context,
        limit: Some(wanted.limit.unwrap_or(MATCHES)),
    });
    let (mut text, mut is_cut) = (String::new(), false);
    while let Some(found) = found.try_next().await? {
        match found {
            // Dropping the search ends it on the device.
            Found::Line { .. } if text.len() > TEXT_BYTES_MAX => {
                is_cut = true;
                break;
            }
            Found::Line { path, matched } => lines(&mut text, path.as_str(), &matched),
            Found::Over(over) => is_cut = over.truncated,
        }
    }
    if text.is_empty() {
        return Ok(answer::text("[no matches]"));
    }
    if is_cut {
        text.push_str("[more matches omitted; narrow the search]\n");
    }
    Ok(answer::text(text))
}

fn lines(text: &mut String, path: &str, matched: &SearchMatch) {
    let cut = |line: &str| line[..line.floor_char_boundary(LINE_BYTES_MAX)].trim_end().to_owned();
    let first = matched.line.saturating_sub(matched.before.len() as u64);
    for (line, number) in matched.before.iter().zip(first..) {
        let _ = writeln!(text, "{path}-{number}-{}", cut(line));
    }
    let _ = writeln!(text, "{path}:{}:{}", matched.line, cut(&matched.text));
    for (line, number) in matched.after.iter().zip(matched.line + 1..) {
        let _ = writeln!(text, "{path}-{number}-{}", cut(line));
    }
}
