//! Ids, wire types and problem kinds of Tombolo's APIs.
//!
//! Every type that crosses a process boundary is defined here, so that servers, clients and generated SDKs agree. The crate
//! has no I/O and no async code.

pub mod acp;
pub mod agents;
pub mod audit;
pub mod config;
pub mod device;
mod error_chain;
pub mod event;
pub mod fs;
pub mod hub;
mod ids;
pub mod inbox;
pub mod info;
mod json_object;
pub mod lending;
pub mod message;
pub mod observation;
pub mod people;
pub mod presence;
mod problem;
pub mod processes;
mod projection;
pub mod relay;
#[cfg(test)]
mod renamed_fields;
mod schema;
mod session_title;
pub mod sessions;
mod transcript;
pub mod wait;
pub mod worker_actions;

pub use error_chain::ErrorChain;
pub use event::{Event, EventRecord};
pub use ids::{
    AgentName, AuditId, Author, EnvironmentId, EventId, GrantId, IdempotencyKey, InputId, InvalidId,
    ProcessId, RuntimeId, ServerId, SessionId, TokenId, TokenName, TurnId, UserName, WaitId, WorkspaceName,
};
pub use json_object::JsonObject;
pub use message::Message;
pub use problem::{FailedAttempt, Problem, ProblemKind};
pub use projection::{SNAPSHOT_MESSAGES_MAX, SessionProjection};
pub use schema::schemas;
pub use session_title::title_of_message;
pub use transcript::{ApplyOutcome, Transcript};
