//! HTTP requests in the reverse direction of a connection: from the hub to a daemon that has dialled the hub.
//!
//! A daemon behind a firewall opens a WebSocket to the hub. The WebSocket transports bytes ([`carry()`]), and the bytes form one
//! HTTP/2 connection in which the roles are reversed: the hub is the client ([`TunnelClient`]), the daemon the server ([`serve`]).
//!
//! HTTP/2 provides what a byte stream lacks: many concurrent requests, and flow control per stream, so that a response that
//! is not read blocks no other. A WebSocket inside the tunnel is an extended `CONNECT`; callers and services on both sides
//! see an ordinary HTTP/1.1 upgrade.
//!
//! ```text
//! hub:    TunnelClient ── HTTP/2 client ── pipe ── carry ══ WebSocket ══ carry ── pipe ── HTTP/2 server ── serve   :daemon
//! ```
//!
//! Access control is the callers' task.

mod carry;
mod client;
mod extended_connect;
mod limits;
mod server;

pub use carry::{MESSAGE_BYTES_MAX, carry};
pub use client::{TunnelClient, TunnelError};
pub use limits::{HOST, pipe};
pub use server::serve;
