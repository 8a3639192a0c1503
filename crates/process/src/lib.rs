//! Child processes that cannot harm or outlive their parent.
//!
//! A child runs in its own process group and dies with its parent. Stopping it escalates: close its stdin, SIGTERM to the
//! group, SIGKILL to the group and to descendants that have left it. Everything between parent and child has a limit: line
//! length, queued stdin, retained stderr, and the time to stop.
//!
//! * [`spawn()`]: for a child with a line protocol. Its stdout is read in the caller's task.
//! * [`spawn_raw`]: stdout and stderr as bytes, as they arrive.
//! * [`spawn_pty`]: the same on a pseudo-terminal.
//!
//! The crate knows nothing of agents, JSON or HTTP.

mod async_fd;
mod child_command;
mod child_mark;
mod error;
mod group_leader;
mod kill_progress;
mod life_stage;
mod line_framer;
mod orphans;
mod output_reader;
mod output_source;
mod process_control;
mod process_group;
#[cfg(target_os = "linux")]
mod process_snapshot;
mod process_spec;
#[cfg(target_os = "linux")]
mod procfs;
mod pty;
mod spawn;
mod spawner;
mod stderr_tail;
mod stdin;
mod stdout_lines;
mod supervisor;
mod survivor_record;

pub use child_command::restore_default_signals;
pub use child_mark::{MARK_VARIABLE, parent_mark};
pub use error::{Error, SpawnFailure};
pub use life_stage::ChildExit;
pub use line_framer::{FramedLine, LineChunk, LineFramer, READ_BYTES};
pub use orphans::OrphanReaper;
pub use output_reader::{ChildStream, OutputReader, ProcessOutput};
pub use output_source::{SETTLE_IDLE, SETTLE_MAX};
pub use process_control::ProcessControl;
pub use process_group::kill_children_of;
pub use process_spec::{ProcessLimits, ProcessSpec};
pub use pty::{PtyProcess, PtyResizer, PtySize, spawn_pty};
pub use rustix::process::Signal;
pub use spawn::{LineProcess, RawProcess, spawn, spawn_raw};
pub use stderr_tail::STDERR_TAIL_BYTES;
pub use stdin::{ProcessStdin, StdinSendError};
pub use stdout_lines::StdoutLines;
pub use supervisor::wait_for_all;
pub use survivor_record::SurvivorRecord;
