//! Reading server-sent events: a [`SseParser`] takes the bytes of a stream in any pieces and returns whole frames.
//!
//! It follows the WHATWG HTML standard and does no I/O, so it works with any HTTP client. A frame that is larger than the
//! limit is skipped and reported as [`FrameTooLarge`]; the frames after it are read as usual. Memory is bounded by the limit,
//! whatever the server sends.
//!
//! `sse-stream` (which `rmcp` exposes in its API, and the device uses for that reason only) has no such limit: it collects a
//! line or a frame of any size.

mod frame;
mod parser;
#[cfg(test)]
mod tests;

pub use frame::{FrameTooLarge, SseFrame};
pub use parser::{FRAME_BYTES_MAX, SseParser};
