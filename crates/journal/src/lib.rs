//! An append-only, ordered log that many readers follow by cursor.
//!
//! A journal stores *frames*: byte strings that it never interprets. Each frame gets the next [`Seq`]. Frames are encoded
//! once and all readers share the bytes. One reader covers replay and live tail: it first returns the retained frames,
//! then waits for new ones, without losing, repeating or reordering a frame at the transition. A reader that is so slow
//! that frames were evicted before it read them gets a [`Gap`]; it is never skipped ahead silently.
//!
//! Two backends with the same operations:
//!
//! - [`RingJournal`]: in memory, bounded, with a single [`RingWriter`];
//! - [`durable::DurableJournal`]: in SQLite. A frame that a reader has seen survives `kill -9`.
//!
//! Out of scope: the content of frames, their transport (SSE, WebSocket, pages) and access control.

mod cursor;
pub mod durable;
mod error;
mod frame_batch;
mod frame_buffer;
mod frame_chunk;
mod item;
mod retention;
mod ring;
mod seq;
mod start_position;

pub use cursor::{Cursor, Epoch, ParseCursorError};
pub use error::Error;
pub use frame_buffer::FrameBuffer;
pub use frame_chunk::FrameChunk;
pub use item::JournalItem;
pub use retention::{Gap, JournalBounds, Retention};
pub use ring::{BatchBuilder, KEEP_UP_WINDOW, RingJournal, RingReader, RingWriter, SEGMENT_BYTES};
pub use seq::{ParseSeqError, Seq};
pub use start_position::StartPosition;

use frame_batch::FrameBatch;
