//! What the daemon and the hub share: connections, who may come in, problems, bad input, WebSockets.
//!
//! A [`Listener`] takes connections, bounds them and ends them in order. Before a request reaches a route, the [`Gate`]
//! asks a [`Check`]; what is refused, there or later, leaves as a problem document ([`Refusal`]). Each request has a
//! [`RequestId`], is a span, and is counted ([`Metrics`]).
//!
//! Routes, tokens and configuration are elsewhere.

pub mod api;
mod cors;
mod exchange;
pub mod extract;
mod fragments;
mod gate;
mod inside;
pub mod intake;
mod listen;
pub mod metrics;
mod names;
pub mod observed;
mod refusal;
mod request_id;
mod socket;
mod sockets;
pub mod sse;
mod subprotocol;
mod templates;
mod upgrade;

pub use cors::{CorsConfig, InvalidCors};
pub use extract::Stall;
pub use fragments::fragments;
pub use gate::{Check, Gate, Open};
pub use inside::Inside;
pub use listen::{Listener, Peer, Service};
pub use metrics::Metrics;
pub use names::{Names, bearer, is_loopback_host};
pub use protocol::ErrorChain;
pub use refusal::{Refusal, Result};
pub use request_id::{REQUEST_ID, RequestId};
pub use sockets::{Sockets, WebSocket};
pub use templates::Templates;
pub use upgrade::Upgrade;
