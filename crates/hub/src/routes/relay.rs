//! `/api/v1/relay`: devices that are lent to agents: where they come in, and the doors of those who use them.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod connect;
pub(crate) mod environments;
pub(crate) mod mcp;
pub(crate) mod requests;
pub(crate) mod status;

use hub_access::runtime_not_found;
use protocol::ProblemKind;
use server::ProblemResponse;

use crate::relay::{AddError, store::Error};

pub(super) fn not_added(error: &AddError) -> ProblemResponse {
    match error {
        AddError::NoRuntime(id) => runtime_not_found(id),
        AddError::Store(error) => refused(error),
    }
}

pub(super) fn refused(error: &Error) -> ProblemResponse {
    let kind = match error {
        Error::NoDevice(_) => ProblemKind::DeviceNotFound,
        Error::DeviceTaken(_) => ProblemKind::DeviceTaken,
        Error::NoGrant(_) => ProblemKind::GrantNotFound,
        Error::NoEnvironment(_) => ProblemKind::EnvironmentNotFound,
        Error::NotRemembered(_) => ProblemKind::WaitNotFound,
        Error::Full { .. } => ProblemKind::LendingFull,
        Error::Invalid(_) => ProblemKind::InvalidRequest,
        Error::File(_) => return ProblemResponse::internal(error),
    };
    ProblemResponse::new(kind, error.to_string())
}
