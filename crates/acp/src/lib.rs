//! ACP instances: one agent process each, bridged byte for byte between HTTP requests and its standard streams.
//!
//! A message is parsed only as far as routing needs: the `id` and `method` of its JSON-RPC envelope. Everything that the
//! agent writes is appended unchanged to a journal with any number of readers; a response also goes to the request that
//! waits for it. This crate knows nothing of HTTP: its routes are in `daemon`.

mod delivered_keys;
mod error;
mod instance;
mod instance_reader;
mod instance_registry;
mod json_rpc;
mod launch_options;
mod metrics;
mod outgoing_message;
mod pending_requests;
mod process_bridge;
mod sse_frame;

pub use error::Error;
pub use instance_reader::InstanceReader;
pub use instance_registry::{Config, InstanceRegistry};
pub use json_rpc::{InvalidEnvelope, JsonRpcMessage};
pub use outgoing_message::{OutgoingMessage, ResponseMode, SendOutcome};
