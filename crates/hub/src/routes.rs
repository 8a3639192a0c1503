//! The routes, one file per resource.

pub(crate) mod forward;
pub(crate) mod info;
pub(crate) mod runtimes;
pub(crate) mod workers;

use protocol::Problem;
use utoipa::IntoResponses;

/// Every route may answer with a problem; its `status` says which.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "describes the responses; nothing is ever made of it")]
#[response(status = "default", description = "A problem", content_type = "application/problem+json")]
pub(crate) struct Problems(#[to_schema] Problem);
