//! Journals on disk: many of them in one SQLite file, written by one thread.
//!
//! A frame is durable before anyone sees it: the writer thread commits an append, then publishes it to the journal's
//! *tail*, then answers the caller. The tail is a [`RingJournal`](crate::RingJournal) with the most recent committed
//! frames. Readers follow the tail and load older frames from the file.
//!
//! Group commit: the writer thread takes all queued requests and commits them as one transaction. It never delays a commit
//! to collect more; under load the requests that arrive during one commit form the next group.
//!
//! On a full disk, appends still succeed for a while: the store holds back a reserve (`disk_reserve.rs`). Servers refuse new
//! work while [`JournalStore::is_low`].
//!
//! A second thread copies the write-ahead log into the database file (a checkpoint), so that appends do not wait for it.

mod checkpoint;
mod disk_reserve;
mod error;
mod event_rows;
mod journal;
mod metrics;
mod queue;
mod read_pool;
mod reader;
mod record;
mod row_index;
mod schema;
mod store;
mod writer_thread;

pub use error::{Error, ErrorCause};
pub use journal::DurableJournal;
pub use metrics::JournalMetrics;
pub use queue::QUEUE_MAX;
pub use reader::DurableReader;
pub use record::{RecordUpdate, StoredRecord};
pub use store::{JournalStore, SyncMode};
