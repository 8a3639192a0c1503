//! The journals on disk: many in one SQLite file, written by one thread.
//!
//! *Seen means durable*: an append is committed first, then published to the journal's tail, then answered. Readers
//! follow the tail, a [`Ring`](crate::Ring) of the last committed frames, and read what is older from the file.
//!
//! The writer thread takes whatever is queued and commits it as one transaction; it never waits on purpose to gather.
//! A second thread copies the write-ahead log back into the file, so that appends do not pay for it.

mod checkpoint;
mod error;
mod handle;
mod ledger;
mod metrics;
mod note;
mod places;
mod pool;
mod queue;
mod reader;
mod schema;
mod store;
mod writer;

pub use error::{Cause, Error};
pub use handle::Durable;
pub use metrics::Metrics;
pub use note::{Note, Noted};
pub use queue::QUEUE_MAX;
pub use reader::Reader;
pub use store::{Store, Sync};
