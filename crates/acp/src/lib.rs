//! ACP instances: one agent process each, bridged byte for byte between HTTP requests and its standard streams.
//!
//! A message is looked at only as far as it must be routed: `id` and `method` of the envelope. What the agent
//! says goes, unchanged, into a journal that any number of readers follow; an answer also goes to the request
//! that waits for it. Knows nothing of HTTP: its door is in `daemon`.

mod answer;
mod attendance;
mod bridge;
mod deliveries;
mod envelope;
mod error;
mod frame;
mod instance;
mod instances;
mod metrics;
mod pending;

pub use answer::{Answer, Wait};
pub use attendance::Listener;
pub use envelope::{Envelope, InvalidEnvelope, Message};
pub use error::Error;
pub use frame::gap as gap_frame;
pub use instances::{Config, Instances};
