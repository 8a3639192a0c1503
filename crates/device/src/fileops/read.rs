//! `file.read`.

use std::{fmt::Write, io, os::unix::fs::FileExt};

use base64::{Engine, prelude::BASE64_STANDARD};
use protocol::relay::{
    Encoding, Json, RelayError,
    file::{FileContent, ReadFile},
};

use super::{
    Spot,
    refusal::{failed, invalid},
};

/// How many bytes come at once at most (relay #70): in base64 a third of the largest frame, and what the system reads well.
const BYTES_MAX: usize = 256 * 1024;

/// How many bytes of text come at once at most: if every one of them must be escaped (`\u0000`) they are six times as long,
/// and still fit in a frame.
const TEXT_BYTES_MAX: usize = 128 * 1024;

/// Reads some bytes of a file: at most `length`, and as many as fit in a frame. `eof` tells whether there are more; who wants
/// them asks again from `offset` plus what came.
///
/// Text ends with a whole character, so there may be a few bytes less of it. What is no UTF-8, or begins inside of a
/// character, can only be had in base64.
pub(super) fn read(spot: &Spot, asked: &ReadFile) -> Result<Json, RelayError> {
    let (file, stat) = spot.files.open_read(&spot.at()?).map_err(|error| spot.refused(&error))?;
    let offset = asked.offset.unwrap_or(0);
    let most = match asked.encoding {
        Encoding::Utf8 => TEXT_BYTES_MAX,
        Encoding::Base64 => BYTES_MAX,
    };
    let wanted = asked.length.map_or(most, |length| usize::try_from(length).unwrap_or(most).min(most));
    // A file may say that it is empty and not be so, as those of the kernel do.
    let says_nothing = stat.size == 0;
    let left = usize::try_from(stat.size.saturating_sub(offset)).unwrap_or(most);
    let mut bytes = vec![0; if says_nothing { wanted } else { wanted.min(left) }];
    let count = fill(&file, &mut bytes, offset).map_err(|error| failed(spot, "read", &error))?;
    let eof = count < bytes.len() || (!says_nothing || wanted == 0) && count >= left;
    bytes.truncate(count);
    match asked.encoding {
        Encoding::Base64 => Ok(in_base64(&bytes, stat.size, eof)),
        Encoding::Utf8 => text(bytes, wanted, stat.size, eof),
    }
}

/// Reads until there is no more room or nothing more to read.
fn fill(file: &std::fs::File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        // Nothing is behind the largest offset.
        let Some(at) = offset.checked_add(count as u64).filter(|at| i64::try_from(*at).is_ok()) else {
            break;
        };
        match file.read_at(&mut bytes[count..], at) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Written by hand, as this is most of what goes over a connection: the bytes are encoded where they stay.
fn in_base64(bytes: &[u8], size: u64, eof: bool) -> Json {
    let mut json = String::with_capacity(bytes.len() / 3 * 4 + 100);
    json.push_str(r#"{"content":""#);
    BASE64_STANDARD.encode_string(bytes, &mut json);
    // A string takes all that is written to it.
    let _ = write!(json, r#"","encoding":"base64","size_bytes":{size},"eof":{eof}}}"#);
    Json::written(json).unwrap_or_else(|_| Json::empty())
}

fn text(mut bytes: Vec<u8>, wanted: usize, size: u64, eof: bool) -> Result<Json, RelayError> {
    if let Err(error) = std::str::from_utf8(&bytes) {
        // A character that was cut comes whole with the next bytes.
        if error.error_len().is_some() || eof {
            return Err(invalid(
                "not_utf8",
                "these bytes are no UTF-8 text: read them with the encoding base64",
            ));
        }
        bytes.truncate(error.valid_up_to());
        if bytes.is_empty() {
            return Err(invalid(
                "not_utf8",
                format!("{wanted} bytes hold no whole character: read more of them"),
            ));
        }
    }
    let content = String::from_utf8(bytes).unwrap_or_default();
    let content = FileContent { content, encoding: Encoding::Utf8, size_bytes: Some(size), eof: Some(eof) };
    Ok(Json::of(&content))
}
