//! Output of an agent, as an adapter receives it.

/// One piece of an agent's output.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// A line of its standard output without the line end, or the data of one event of its stream.
    Line(&'a [u8]),
    /// A line that was too long to be kept.
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// The response to a [`Call`](crate::Call).
    Answer {
        /// The id of the call.
        call: u64,
        /// The HTTP status; 0 if there was no response.
        status: u16,
        /// The response body.
        body: &'a [u8],
    },
}
