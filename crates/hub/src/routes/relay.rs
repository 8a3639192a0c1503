//! `/api/v1/relay`: devices that are lent to agents: where they come in, and the doors of those who use them.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod connect;
pub(crate) mod environments;
pub(crate) mod mcp;
pub(crate) mod requests;
pub(crate) mod status;

use hub_access::{Principal, runtime_not_found};
use protocol::{ProblemKind, WorkspaceName, hub::Role};
use server::{ProblemResponse, Result};

use crate::relay::{AddError, store::Error};

/// Whether somebody who is to have a role in a workspace has it. Who manages the hub may do whatever is done to devices.
pub(super) fn need(caller: &Principal, workspace: &WorkspaceName, role: Role) -> Result<()> {
    let has = caller.is_admin() || caller.rights.role_in(workspace).is_some_and(|theirs| theirs >= role);
    match has {
        true => Ok(()),
        false => {
            let detail = format!("this needs the role `{role}` in the workspace `{workspace}`");
            Err(ProblemResponse::new(ProblemKind::Forbidden, detail))
        }
    }
}

/// The same, for what is not there for those who do not see its workspace.
pub(super) fn need_of(
    caller: &Principal,
    workspace: &WorkspaceName,
    role: Role,
    missing: &Error,
) -> Result<()> {
    match caller.sees(workspace) {
        true => need(caller, workspace, role),
        false => Err(refused(missing)),
    }
}

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
