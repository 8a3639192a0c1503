//! What the daemon and the hub share: connections, who may come in, problems, bad input, WebSockets.
//!
//! A [`Listener`] takes connections, bounds them and ends them in order. Before a request reaches a route, the [`Gate`]
//! asks a [`Check`]; what is refused, there or later, leaves as a problem document ([`Refusal`]).
//!
//! Routes, tokens and configuration are elsewhere.

pub mod api;
mod cors;
pub mod extract;
mod gate;
pub mod intake;
mod listen;
mod names;
pub mod observed;
mod refusal;
mod socket;
mod sockets;
pub mod sse;

pub use cors::{CorsConfig, InvalidCors};
pub use extract::Stall;
pub use gate::{Check, Gate};
pub use listen::{Listener, Peer, Service};
pub use names::{Names, bearer, is_loopback_host};
pub use refusal::{Chain, Refusal, Result};
pub use sockets::Sockets;
