//! `read_file`.

use base64::{Engine, prelude::BASE64_STANDARD};
use relay::{
    Environment,
    environment::{Error, FileOperator, Span},
};
use rmcp::model::{CallToolResult, ContentBlock};
use schemars::JsonSchema;
use serde::Deserialize;

use super::invalid;
use crate::{answer, output::ProgressReporter};

/// The number of lines if the request has no limit.
const LINES_MAX: usize = 2000;

/// The size of a text result: as much as a model can use.
const TEXT_BYTES_MAX: usize = 128 << 10;

/// The largest image.
const PICTURE_BYTES_MAX: u64 = 4 << 20;

/// The largest file from which lines can be read.
const FILE_BYTES_MAX: u64 = 32 << 20;

#[derive(Deserialize, JsonSchema)]
pub(super) struct ReadFileArguments {
    /// The path of the file to read.
    path: String,
    /// The first line to return, starting at 1.
    #[serde(default)]
    offset: Option<usize>,
    /// Maximum number of lines to return.
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) async fn read_file(
    environment: Environment,
    ReadFileArguments { path, offset, limit }: ReadFileArguments,
    _: ProgressReporter,
) -> Result<CallToolResult, Error> {
    let files = environment.files();
    let picture = picture(&path);
    let length_max = if picture.is_some() { PICTURE_BYTES_MAX } else { FILE_BYTES_MAX };
    let bytes = files.read_bytes(&path, Span { offset: 0, length: Some(length_max + 1) }).await?;
    if bytes.len() as u64 > length_max {
        return Err(invalid(format!(
            "`{path}` is larger than {length_max} bytes; use a command to read parts of it"
        )));
    }
    if let Some(mime_type) = picture {
        let data = BASE64_STANDARD.encode(bytes);
        return Ok(CallToolResult::success(vec![ContentBlock::image(data, mime_type)]));
    }
    let text = String::from_utf8(bytes).map_err(|_| invalid(format!("`{path}` is not a text file")))?;
    Ok(answer::text(lines(&text, offset, limit)))
}

/// The requested lines, and how to request the remaining ones.
fn lines(text: &str, offset: Option<usize>, limit: Option<usize>) -> String {
    let first = offset.unwrap_or(1).max(1);
    let wanted = text.split_inclusive('\n').skip(first - 1).take(limit.unwrap_or(LINES_MAX));
    let (mut given, mut count) = (String::new(), 0);
    for line in wanted {
        if count > 0 && given.len() + line.len() > TEXT_BYTES_MAX {
            break;
        }
        let end = line.floor_char_boundary(TEXT_BYTES_MAX);
        given.push_str(&line[..end]);
        count += 1;
    }
    let total = text.split_inclusive('\n').count();
    let next = first + count;
    if count == 0 {
        return if total == 0 {
            "[the file is empty]".into()
        } else {
            format!("[the file has {total} lines]")
        };
    }
    if next <= total {
        if !given.ends_with('\n') {
            given.push('\n');
        }
        given.push_str(&format!("[lines {first} to {} of {total}; read on with offset {next}]", next - 1));
    }
    given
}

fn picture(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        "gif" => Some("image/gif"),
        "webp" => Some("image/webp"),
        _ => None,
    }
}
