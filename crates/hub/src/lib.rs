//! The hub: many runtimes, watched and driven from anywhere, without handing out their keys.
//!
//! A runtime's workers are watched once, however many people watch: each has a [`feed::Feed`] that follows it, keeps what it
//! has come to and the last of what happened, and shows both to whoever comes. What people get is the hub's own: its
//! cursors, its envelopes, its diagnostics. Nothing of it tells where a runtime is or how it is spoken to.

mod feed;
mod feeds;
mod registry;
mod runtime;
mod seal;
mod watch;

pub use feed::BACKLOG;
pub use feeds::Feeds;
pub use registry::{Registered, Registry, RegistryError};
pub use runtime::{Down, Remote, Runtime, Upstream};
pub use seal::Key;
pub use watch::{End, Watch};
