//! The thread that keeps the record up to date.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, getpid};
use tracing::warn;

use super::recorded_processes::RecordedProcesses;
use crate::{orphans, process_snapshot::ProcessSnapshot};

/// How often processes are looked for while there are any. A process that is started and hides within this time before its
/// parent is killed is not recorded.
const SCAN_INTERVAL: Duration = Duration::from_secs(2);

/// The shortest pause between two scans, however many children start and exit.
const SCAN_PAUSE_MIN: Duration = Duration::from_millis(200);

/// A scan reads all of `/proc`, which takes the longer the more processes there are. The pause after it is at least this many
/// times as long as the scan, so that all scans take at most half a percent of a core.
const PAUSE_PER_SCAN: u32 = 200;

/// The number of children that were started or reaped so far, and a wake-up for the recorders when it changes.
static CHANGES: Mutex<u64> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// Tells the recorders that a child was started or reaped.
pub(crate) fn note_change() {
    *CHANGES.lock() += 1;
    CHANGED.notify_all();
}

/// The thread that keeps a record up to date, until it is dropped.
#[derive(Debug)]
pub(super) struct Recorder {
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    pub(super) fn start(file: File) -> io::Result<Self> {
        let stopped = Arc::new(AtomicBool::new(false));
        let mut scan = RecordScan { file, recorded: RecordedProcesses::default(), has_failed: false };
        let is_stopped = Arc::clone(&stopped);
        let run = move || {
            let (mut seen, mut pause) = (0, Duration::ZERO);
            while wait(&is_stopped, &mut seen, scan.has_processes(), pause) {
                let start = Instant::now();
                scan.run();
                pause = start.elapsed() * PAUSE_PER_SCAN;
            }
        };
        let thread = thread::Builder::new().name("survivor-record".to_owned()).spawn(run)?;
        Ok(Self { stopped, thread: Some(thread) })
    }
}

impl Drop for Recorder {
    /// Closes the file, which releases its lock, before it returns.
    fn drop(&mut self) {
        // Under the lock: the thread checks the flag and begins to wait under it, so it cannot miss the wake-up.
        let changes = CHANGES.lock();
        self.stopped.store(true, Relaxed);
        CHANGED.notify_all();
        drop(changes);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until the next scan is due; `false` if there is none.
fn wait(stopped: &AtomicBool, seen: &mut u64, has_processes: bool, pause: Duration) -> bool {
    let start = Instant::now();
    let mut changed_at = None;
    let mut changes = CHANGES.lock();
    while !stopped.load(Relaxed) {
        if *changes != *seen && changed_at.is_none() {
            changed_at = Some(Instant::now());
        }
        let due = match changed_at {
            // A child needs a moment to start what may outlive it.
            Some(changed_at) => (changed_at + SCAN_PAUSE_MIN).max(start + pause),
            None if has_processes => start + pause.max(SCAN_INTERVAL),
            None => {
                CHANGED.wait(&mut changes);
                continue;
            }
        };
        if Instant::now() >= due {
            *seen = *changes;
            return true;
        }
        CHANGED.wait_until(&mut changes, due);
    }
    false
}

struct RecordScan {
    file: File,
    recorded: RecordedProcesses,
    /// The last record could not be written. That is logged once.
    has_failed: bool,
}

impl RecordScan {
    fn has_processes(&self) -> bool {
        !self.recorded.0.is_empty() || orphans::has_children()
    }

    /// Records all processes below this one, and those below processes that were below it before: without a subreaper, the
    /// link to this process is lost with the process in between.
    fn run(&mut self) {
        let (snapshot, this_process) = (ProcessSnapshot::read(), getpid());
        let was_recorded = |pid: Pid| snapshot.is_in(pid, &self.recorded.0);
        let mut current = snapshot.below(|pid| pid == this_process || was_recorded(pid));
        current.extend(self.recorded.0.iter().filter(|(pid, _)| was_recorded(**pid)));
        current.retain(|pid, _| snapshot.is_alive(*pid));
        if current == self.recorded.0 && !self.has_failed {
            return;
        }
        self.recorded.0 = current;
        let written = self.recorded.render().map_or(Ok(()), |record| {
            // One write from the beginning, and only then shorter: if this process is killed in between, the record is whole
            // and the rest of the old one follows its end.
            self.file.write_all_at(record.as_bytes(), 0)?;
            self.file.set_len(record.len() as u64)
        });
        if let Err(error) = &written
            && !self.has_failed
        {
            warn!(%error, "could not record the running processes; some may outlive this one if it is killed");
        }
        self.has_failed = written.is_err();
    }
}
