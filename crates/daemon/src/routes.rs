//! One file per resource: its router, its handlers, nothing else.

pub(crate) mod acp;
pub(crate) mod agents;
pub(crate) mod config;
pub(crate) mod fs;
pub(crate) mod info;
pub(crate) mod processes;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod waits;
pub(crate) mod workers;

pub(crate) use server::api::Problems;
