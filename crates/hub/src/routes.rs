//! The routes, one file per resource.

pub(crate) mod forward;
pub(crate) mod info;
pub(crate) mod runtimes;
pub(crate) mod waits;
pub(crate) mod workers;

pub(crate) use server::api::Problems;
