//! Access to the hub: users and their tokens, the table that decides which action needs which role, the guard before every
//! route, the policy on what each role sees, and the audit log.
//!
//! The guard authenticates a request, looks its route up in the table, checks the role and asks the policy. A permit keeps
//! holding on open streams: it ends when the token, the role or the policy changes.

mod access_request;
mod access_watch;
mod action;
mod audit_log;
mod deferred_check;
mod guard;
pub mod json_file;
mod limits;
mod permit;
pub mod policy;
mod poll_only_when_woken;
mod principal;
mod rate_limiter;
mod recovered_token;
mod rights_watch;
mod route_index;
mod route_rule;
mod route_table;
mod secret;
mod session_cookie;
mod signing_key;
mod state_file;
mod user_store;
mod worker_actions;
mod workspace_resource;

pub use access_request::AccessRequest;
pub use access_watch::AccessWatch;
pub use action::Action;
pub use audit_log::AuditLog;
pub use deferred_check::{AuthorizedJson, AuthorizedQuery, NamesSubject, RequestSubject};
pub use guard::{AccessGuard, guard};
pub use limits::AccessLimits;
pub use permit::{PermissionRevoked, Permit};
pub use principal::{EffectiveRights, Principal};
pub use rate_limiter::Rate;
pub use recovered_token::{RecoverTokenError, recover_token};
pub use rights_watch::RightsWatch;
pub use route_rule::RouteRule;
pub use route_table::FORWARDED_ROUTE;
pub use secret::{NewToken, token_digest};
pub use session_cookie::SessionCookie;
pub use signing_key::SigningKey;
pub use state_file::{StateFile, StoredState};
pub use user_store::{BROWSER_SESSION_AGE, UserStore, UserStoreError};
pub use worker_actions::{WorkerRequest, worker_requests};
pub use workspace_resource::{WorkspaceLookup, WorkspaceResource, runtime_not_found};
