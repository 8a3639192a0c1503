//! Processes that outlived a killed parent, ended by the next run of it.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
};

use crate::{kill_children_of, parent_mark};

/// How much of the record is read: more than it has.
const RECORD_BYTES_MAX: u64 = 256;

/// Ends what the children of the last writer of `record` left behind, and records how the next run finds the children of this
/// process. Returns whether anything was left.
///
/// The caller must hold a lock on the file, which shows that the last writer has ended. If it ended properly, nothing of
/// it is left. A process that replaced its environment is not found. Blocks for up to a second.
///
/// # Errors
/// If the file cannot be read or written.
pub fn end_survivors(record: &mut File) -> io::Result<bool> {
    let mut last = Vec::new();
    record.take(RECORD_BYTES_MAX).read_to_end(&mut last)?;
    let any = kill_children_of(String::from_utf8_lossy(&last).trim_end());
    record.set_len(0)?;
    record.rewind()?;
    writeln!(record, "{}", parent_mark())?;
    Ok(any)
}
