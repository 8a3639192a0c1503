//! `file.read`.

use std::{fmt::Write, io};

use base64::{Engine, prelude::BASE64_STANDARD};
use protocol::relay::{
    RawJson, RelayError,
    file::{FileContent, ReadEncoding, ReadFile},
};
use rustix::{buffer::spare_capacity, io::Errno};

use super::{
    Spot,
    refusal::{failed, invalid},
};

/// How many bytes come at once at most: in base64 a quarter of the largest frame. With what is around them it is
/// less than the system maps for each piece anew, which costs more than to read them.
const BYTES_MAX: usize = 192 * 1024;

/// How many bytes of text come at once at most: if every one of them must be escaped (`\u0000`) they are six times as long,
/// and still fit in a frame.
const TEXT_BYTES_MAX: usize = 128 * 1024;

/// Reads some bytes of a file: at most `length`, and as many as fit in a frame. `eof` tells whether there are more; who wants
/// them asks again from `offset` plus what came.
///
/// Text ends with a whole character, so there may be a few bytes less of it. What is no UTF-8, or begins inside of a
/// character, can only be had in base64.
pub(super) fn read(spot: &Spot, asked: &ReadFile) -> Result<RawJson, RelayError> {
    let (file, stat) = spot.files.open_read(&spot.at()?).map_err(|error| spot.refused(&error))?;
    let offset = asked.offset.unwrap_or(0);
    let most = match asked.encoding {
        ReadEncoding::Utf8 => TEXT_BYTES_MAX,
        ReadEncoding::Base64 | ReadEncoding::Binary => BYTES_MAX,
    };
    let wanted = asked.length.map_or(most, |length| usize::try_from(length).unwrap_or(most).min(most));
    // A file may say that it is empty and not be so, as those of the kernel do.
    let says_nothing = stat.size == 0;
    let left = usize::try_from(stat.size.saturating_sub(offset)).unwrap_or(most);
    let most = if says_nothing { wanted } else { wanted.min(left) };
    let bytes = take(&file, most, offset).map_err(|error| failed(spot, "read", &error))?;
    let eof = bytes.len() < most || (!says_nothing || wanted == 0) && bytes.len() >= left;
    match asked.encoding {
        ReadEncoding::Base64 => Ok(in_base64(&bytes, stat.size, eof)),
        ReadEncoding::Binary => {
            Ok(content(String::new(), ReadEncoding::Binary, stat.size, eof).with_bytes(bytes.into()))
        }
        ReadEncoding::Utf8 => text(bytes, wanted, stat.size, eof),
    }
}

/// Reads so many bytes, or as many as there are. The memory for them is not cleared before.
fn take(file: &std::fs::File, most: usize, offset: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(most);
    while bytes.len() < most {
        // Nothing is behind the largest offset.
        let Some(at) = offset.checked_add(bytes.len() as u64).filter(|at| i64::try_from(*at).is_ok()) else {
            break;
        };
        match rustix::io::pread(file, spare_capacity(&mut bytes), at) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // There may be more room than was asked for.
    bytes.truncate(most);
    Ok(bytes)
}

/// Written by hand, as this is most of what goes over a connection: the bytes are encoded where they stay.
fn in_base64(bytes: &[u8], size: u64, eof: bool) -> RawJson {
    let mut json = String::with_capacity(bytes.len() / 3 * 4 + 100);
    json.push_str(r#"{"content":""#);
    BASE64_STANDARD.encode_string(bytes, &mut json);
    // A string takes all that is written to it.
    let _ = write!(json, r#"","encoding":"base64","size_bytes":{size},"eof":{eof}}}"#);
    RawJson::from_text(json).unwrap_or_else(|_| RawJson::empty())
}

fn text(mut bytes: Vec<u8>, wanted: usize, size: u64, eof: bool) -> Result<RawJson, RelayError> {
    if let Err(error) = std::str::from_utf8(&bytes) {
        // A character that was cut comes whole with the next bytes.
        if error.error_len().is_some() || eof {
            return Err(invalid(
                "not_utf8",
                "the content is not UTF-8 text; read it with `encoding: base64`",
            ));
        }
        bytes.truncate(error.valid_up_to());
        if bytes.is_empty() {
            return Err(invalid(
                "not_utf8",
                format!("{wanted} bytes do not contain a whole character; read more"),
            ));
        }
    }
    Ok(content(String::from_utf8(bytes).unwrap_or_default(), ReadEncoding::Utf8, size, eof))
}

fn content(content: String, encoding: ReadEncoding, size: u64, eof: bool) -> RawJson {
    RawJson::from_value(&FileContent { content, encoding, size_bytes: Some(size), eof: Some(eof) })
}
