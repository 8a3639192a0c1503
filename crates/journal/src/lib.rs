//! An append-only, ordered log that many readers follow by cursor.
//!
//! A journal carries *frames*: byte strings it never looks into. Each frame gets the next [`Seq`]; frames are encoded
//! once and shared by all readers. A reader replays what is kept and then follows what comes, as one subscription:
//! nothing is lost, doubled or reordered where the two meet. What fell out of the retention before a reader got to it
//! is announced as a [`Gap`], never skipped in silence.
//!
//! Two backends behind the same traits, [`Journal`] to read and [`Append`] to write:
//!
//! - [`Ring`]: in memory, bounded, one [`Writer`];
//! - [`durable::Durable`]: in SQLite; what a reader has seen survives `kill -9`.
//!
//! Left out: what frames mean, how they travel (SSE, WebSocket, pages), and who may read them.

mod batch;
mod chunk;
mod cursor;
pub mod durable;
mod error;
mod frames;
mod retention;
mod ring;
mod seq;
mod start;
mod traits;

pub use batch::Batch;
pub use chunk::Chunk;
pub use cursor::{Cursor, Epoch, ParseCursorError};
pub use error::Error;
pub use frames::Frames;
pub use retention::{Bounds, Gap, Retention};
pub use ring::{BatchBuilder, MOVING, Reader, Ring, SEGMENT_BYTES, Writer};
pub use seq::{ParseSeqError, Seq};
pub use start::{Item, Start};
pub use traits::{Append, Follow, Journal};
