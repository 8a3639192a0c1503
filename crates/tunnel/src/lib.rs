//! HTTP through a WebSocket that the server has made: the one that answers has called the one that asks.
//!
//! The WebSocket carries bytes ([`carry()`]), and the bytes are one HTTP/2 connection: the near end asks ([`Tunnel`]), the far
//! end answers ([`serve`]). So many requests and streams share the connection, and one that is not read holds up no
//! other. A WebSocket within it is an extended `CONNECT`, which neither who asks nor who answers gets to see.
//!
//! Who may make a tunnel and who may ask through it is decided elsewhere.

mod carry;
mod connect;
mod far;
mod limits;
mod near;

pub use carry::{MESSAGE_BYTES_MAX, carry};
pub use far::serve;
pub use limits::{HOST, pipe};
pub use near::{Lost, Tunnel};
