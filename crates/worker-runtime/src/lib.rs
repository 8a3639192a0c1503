//! Sessions: conversations with any agent in the universal vocabulary, durable, with people in the loop.
//!
//! A session is a journal on disk and a *worker*, the one task that owns it: it starts the agent, drives it by its adapter
//! (`agents::adapter`), keeps the queue of inputs and the open waits, and writes down everything before anybody sees it.
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
mod kept;
mod launch;
mod link;
mod log;
mod message_times;
mod metrics;
mod observe;
mod offers;
mod page;
mod probe;
mod search;
mod session_filter;
mod session_secrets;
mod sessions;
mod shared;
mod shelf;
mod thread;
mod waits;
mod worker;
#[cfg(feature = "ws-server")]
pub mod ws;

pub use board::Waiting;
pub use config::{Config, DirectorySettings, Settings};
pub use error::Error;
pub use frame::{decode, render};
pub use observe::Observation;
pub use search::{InvalidSearchCursor, SEARCH_HITS_MAX, SearchCursor, TextQuery};
pub use session_filter::SessionFilter;
pub use sessions::{PAGE_EVENTS_MAX, PAGE_MESSAGES_MAX, Readers, Sessions};
