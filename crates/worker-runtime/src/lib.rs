//! Sessions: conversations with any agent in the universal vocabulary, durable, with people in the loop.
//!
//! A session is a journal on disk and a *worker*, the one task that owns it: it starts the agent, drives it by its adapter
//! (`agent_adapters`), keeps the queue of inputs and the open waits, and writes down everything before anybody sees it.
//! Whoever comes later, and whatever was killed in between, the journal and its notes are the truth.
//!
//! Knows nothing of HTTP: its door is in `daemon`. With the feature `ws-server` it also knows how an observation goes over a
//! WebSocket.

mod board;
mod config;
mod draft;
mod error;
mod frame;
mod inputs;
mod launch;
mod link;
mod log;
mod metrics;
mod observe;
mod offers;
mod page;
mod probe;
mod record_version;
mod session_entry;
mod session_filter;
mod session_secrets;
mod session_store;
mod sessions;
mod shared;
mod stored_input;
mod stored_session;
mod stored_wait;
mod thread;
mod unreadable_session;
mod waits;
mod worker;
#[cfg(feature = "ws-server")]
pub mod ws;

pub use board::Waiting;
pub use config::{Config, DirectorySettings, Settings};
pub use error::Error;
pub use frame::{decode, render};
pub use observe::Observation;
pub use session_filter::SessionFilter;
pub use sessions::{PAGE_EVENTS_MAX, PAGE_MESSAGES_MAX, Readers, Sessions};
