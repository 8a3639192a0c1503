//! The hub: many runtimes, watched and driven from anywhere, without handing out their keys.
//!
//! A runtime's workers are watched once, however many people watch: each has a feed that follows it, keeps what it
//! has come to and the last of what happened, and shows both to whoever comes. What people get is the hub's own: its
//! cursors, its envelopes, its diagnostics. Nothing of it tells where a runtime is or how it is spoken to.
//!
//! Every request passes the guard of `hub-access`, which decides by its route table and writes the audit log. A permit ends a
//! stream when its caller is no longer allowed to read it.

mod api;
mod app;
mod config;
mod feed;
mod feeds;
mod files;
mod inbox;
mod instance_lock;
mod metrics;
mod pace;
mod presence;
mod reach;
mod registry;
mod relay;
mod resource_workspaces;
mod routes;
mod runtime;
mod seal;
mod start;
mod viewer;
mod watch;
mod websocket_proxy;

pub use self::files::Files;
pub use api::generate_openapi;
pub use config::Config;
pub use feed::BACKLOG;
pub use feeds::{Feeds, TooMany};
pub use hub_access::{NewToken, Rate, RecoverTokenError, SigningKey, policy};
pub use journal::Retention;
pub use pace::Pace;
pub use registry::{Registered, Registry, RegistryError};
pub use runtime::{Down, Local, Remote, Runtime, Upstream};
pub use start::{Hub, StartError, recover_token};
pub use watch::Watch;
