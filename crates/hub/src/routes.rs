//! The routes, one file per resource.

pub(crate) mod audit;
mod audit_query;
pub(crate) mod devices;
pub(crate) mod forward;
pub(crate) mod grants;
pub(crate) mod info;
pub(crate) mod join;
pub(crate) mod login;
pub(crate) mod pairings;
pub(crate) mod relay;
pub(crate) mod runtimes;
pub(crate) mod tokens;
pub(crate) mod users;
pub(crate) mod waits;
pub(crate) mod worker_details;
pub(crate) mod workers;

pub(crate) use server::api::Problems;
