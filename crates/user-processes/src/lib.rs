//! Processes that a user starts, follows, types into and stops.
//!
//! [`UserProcesses`] holds all of them. Each process has one task, which records its output in a journal of bounded size. Any
//! number of [`LogFollower`]s read the journal from any retained position. The journal stores the exact bytes: a terminal
//! shows them unchanged, and a log shows them as text, from the same memory.
//!
//! Out of scope: transports (HTTP, WebSocket, the relay) and access control.

mod config;
mod error;
mod log_follower;
mod log_frame;
mod log_page;
mod log_recorder;
mod process_entry;
mod run;
mod start;
mod terminal_attachment;
mod user_processes;

pub use config::{Config, EXITED_MAX, LOG_BYTES_MAX, LOG_EVENTS_MAX, PROCESSES_MAX, UserProcessLimits};
pub use error::{Error, InvalidStart};
pub use log_follower::{LogFollower, LogItem};
pub use log_frame::{OutputPiece, ProcessEvent};
pub use log_page::{PAGE_BYTES_MAX, PAGE_MAX};
pub use run::RUN_OUTPUT_BYTES_MAX;
pub use terminal_attachment::{AttachmentInput, TerminalAttachment};
pub use user_processes::UserProcesses;
