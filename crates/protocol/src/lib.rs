//! What is said between Tombolo's parts: ids, wire types and problem kinds.
//!
//! Everything that crosses a process boundary has its type here, so that servers, clients and generated SDKs
//! agree by construction. No I/O, no async.

pub mod acp;
pub mod agents;
pub mod config;
pub mod fs;
mod ids;
pub mod info;
mod object;
mod problem;
pub mod processes;
mod schema;

pub use ids::{AgentName, IdempotencyKey, InvalidId, ProcessId, ServerId};
pub use object::Object;
pub use problem::{Attempt, Kind, Problem};
pub use schema::schemas;
