//! Processes that a user runs: started, followed, spoken to, ended.
//!
//! [`Processes`] is all of them. Each has one owner task, which takes what the process writes into a journal of
//! bounded size; any number of [`Follower`]s read it from any place that is kept. The journal holds the exact bytes,
//! so a terminal is shown as it is and a log is told as text from the same memory.
//!
//! Doors (HTTP, WebSocket, the relay) are elsewhere, and so is the question of who may run what.

mod attachment;
mod config;
mod entry;
mod error;
mod follower;
mod frame;
mod owner;
mod page;
mod processes;
mod start;

pub use attachment::{Attachment, Input};
pub use config::{Config, EXITED_MAX, LOG_BYTES_MAX, LOG_EVENTS_MAX, Limits, PROCESSES_MAX};
pub use error::{Error, InvalidStart};
pub use follower::{Follower, Item};
pub use frame::{Event, Output};
pub use page::{PAGE_BYTES_MAX, PAGE_MAX};
pub use processes::Processes;
