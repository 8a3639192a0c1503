//! What is said between Tombolo's parts: ids, wire types and problem kinds.
//!
//! Everything that crosses a process boundary has its type here, so that servers, clients and generated SDKs
//! agree by construction. No I/O, no async.

pub mod acp;
pub mod agents;
pub mod audit;
mod chain;
pub mod config;
pub mod device;
pub mod event;
pub mod fs;
pub mod hub;
mod ids;
pub mod inbox;
pub mod info;
pub mod lending;
pub mod message;
mod object;
pub mod observation;
pub mod people;
pub mod presence;
mod problem;
pub mod processes;
mod projection;
pub mod relay;
mod schema;
pub mod sessions;
mod transcript;
pub mod wait;

pub use chain::Chain;
pub use event::{Event, Record};
pub use ids::{
    AgentName, AuditId, Author, EnvironmentId, EventId, GrantId, IdempotencyKey, InputId, InvalidId,
    ProcessId, RuntimeId, ServerId, SessionId, TokenId, TokenName, TurnId, UserName, WaitId, Workspace,
};
pub use message::Message;
pub use object::Object;
pub use problem::{Attempt, Kind, Problem};
pub use projection::{Projection, SNAPSHOT_MESSAGES_MAX};
pub use schema::schemas;
pub use transcript::{Fold, Transcript};
