//! Both ends of a relay connection (`ya-environment-relay.v1`), over any transport.
//!
//! [`Peer::start`] returns a handle for sending requests, and the future that drives the connection. Requests of the peer go to a
//! [`Handler`]. Many requests run at once in both directions. Each has exactly one outcome, and one whose reader is slow does not
//! delay the others.
//!
//! Authentication, grants and the meaning of the methods are the responsibility of the users of this crate.

mod ask;
mod bell;
mod call;
mod driver;
pub mod environment;
mod flow;
mod handler;
mod held;
mod limits;
mod lines;
mod lost;
mod pair;
mod peer;
mod reply;
mod requester;
mod socket;
mod takes;
pub mod tool_schema;
mod transport;

pub use ask::Ask;
pub use call::{Call, Part};
pub use environment::Environment;
pub use handler::{Handler, Refused};
pub use held::Held;
pub use limits::Limits;
pub use lines::Lines;
pub use lost::{CloseCode, Lost};
pub use pair::{Pipe, pair};
pub use peer::{Peer, Side};
pub use reply::{Reply, Unsent, bytes_not_taken};
pub use requester::Requester;
pub use socket::{Socket, config};
pub use transport::Transport;
