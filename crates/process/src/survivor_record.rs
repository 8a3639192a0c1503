//! The file that names the processes of a running parent, so that its next run can end those that outlived it.
//!
//! A process that keeps its environment is found by its mark. One that cleared it is found by its id and start time, which
//! a thread records while there are children.

#[cfg(target_os = "linux")]
mod recorded_processes;
#[cfg(target_os = "linux")]
mod recorder;

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
};

use crate::{kill_children_of, parent_mark};

#[cfg(target_os = "linux")]
pub(crate) use recorder::note_change;

/// How much of the record is read: more than [`recorded_processes`] writes.
const RECORD_BYTES_MAX: u64 = 1 << 20;

/// Records the processes below this one until it is dropped.
#[derive(Debug)]
pub struct SurvivorRecord {
    #[cfg(target_os = "linux")]
    _recorder: recorder::Recorder,
    #[cfg(not(target_os = "linux"))]
    _file: File,
    ended_any: bool,
}

impl SurvivorRecord {
    /// Ends what the processes of the last writer of `file` left behind, and records those of this process from now on.
    ///
    /// The caller must hold a lock on the file, which shows that the last writer has ended. The record keeps the file open,
    /// and with it the lock. Blocks for up to two seconds.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(mut file: File) -> io::Result<Self> {
        let mut last = Vec::new();
        (&file).take(RECORD_BYTES_MAX).read_to_end(&mut last)?;
        let last = String::from_utf8_lossy(&last);
        let mark = last.lines().next().unwrap_or_default();
        // Before the marked ones: a recorded process may be their descendant, and is found through them while they live.
        #[cfg(target_os = "linux")]
        let recorded = recorded_processes::RecordedProcesses::parse(&last).kill();
        #[cfg(not(target_os = "linux"))]
        let recorded = false;
        let ended_any = kill_children_of(mark) | recorded;
        file.rewind()?;
        file.write_all(format!("{}\n", parent_mark()).as_bytes())?;
        let length = file.stream_position()?;
        file.set_len(length)?;
        Ok(Self {
            #[cfg(target_os = "linux")]
            _recorder: recorder::Recorder::start(file)?,
            #[cfg(not(target_os = "linux"))]
            _file: file,
            ended_any,
        })
    }

    /// Whether the last run had left any process behind.
    pub fn ended_any(&self) -> bool {
        self.ended_any
    }
}
