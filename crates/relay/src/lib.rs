//! Both ends of a connection of the relay (`ya-environment-relay.v1`), over whatever carries its messages.
//!
//! [`Peer::start`] gives a handle to ask with and the future that drives the connection. What the other side asks goes to a
//! [`Handler`]. Many requests go on at once in both directions; each has exactly one outcome, and one that nobody reads
//! holds up no other.
//!
//! Who may connect, what was granted and what the methods mean is decided elsewhere.

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
