//! Sessions: durable conversations with any agent in one vocabulary, in which people can take part.
//!
//! A session is a journal on the disk and a *worker*, the one task that owns it. The worker starts the agent, drives it through its
//! adapter (`agent_adapters`), and owns the queue of inputs and the open waits. It stores every change before a client or the agent
//! can see it, so that journal and records are always right after a crash.
//!
//! This crate does not depend on HTTP; the routes are in `daemon`. With the feature `ws-server` it also serves observations over a
//! WebSocket.

mod agent_link;
mod agent_slot;
mod committer;
mod config;
mod conversation_state;
mod default_author;
mod error;
mod event_batch;
mod event_page;
mod frame;
mod input_queue;
mod launcher;
mod metrics;
mod observe;
mod offer_cache;
mod open_waits;
mod probe;
mod record_version;
mod sent_message;
mod session_entry;
mod session_filter;
mod session_handle;
mod session_secrets;
mod session_store;
mod session_thread;
mod session_transcript;
mod sessions;
mod start_report;
mod stored_input;
mod stored_session;
mod stored_wait;
mod turn_machine;
mod unreadable_session;
mod wait_reply;
mod wait_table;
mod worker;
mod worker_command;
#[cfg(feature = "ws-server")]
pub mod ws;

pub use config::{Config, DirectorySettings, Settings};
pub use error::Error;
pub use frame::{decode, render};
pub use observe::Observation;
pub use open_waits::WaitSubscription;
pub use session_filter::SessionFilter;
pub use sessions::{EventReader, PAGE_EVENTS_MAX, PAGE_MESSAGES_MAX, Sessions};
