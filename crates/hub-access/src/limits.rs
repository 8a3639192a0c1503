//! Rate limits of the hub.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use jiff::Timestamp;
use protocol::{EnvironmentId, ProblemKind, TokenId};
use server::{PeerAddress, ProblemResponse, Result};

use crate::rate_limiter::{KeyedRateLimiter, Rate};

/// Rate limits for refused requests by address, and for other requests by token and environment.
pub struct AccessLimits {
    failures: KeyedRateLimiter<Option<IpAddr>>,
    requests: KeyedRateLimiter<TokenId>,
    environments: KeyedRateLimiter<EnvironmentId>,
}

impl AccessLimits {
    /// `failures` limits refused requests of one address, `requests` those with one token or environment.
    pub fn new(failures: Rate, requests: Rate) -> Self {
        let environments = KeyedRateLimiter::new(requests);
        Self {
            failures: KeyedRateLimiter::new(failures),
            requests: KeyedRateLimiter::new(requests),
            environments,
        }
    }

    /// The refusal of a request without a valid token.
    pub fn unauthorized(&self, peer: Option<PeerAddress>) -> ProblemResponse {
        let detail = "send a hub token as `Authorization: Bearer …`";
        self.refuse(peer, ProblemResponse::new(ProblemKind::Unauthorized, detail))
    }

    /// The refusal of a request with a token that was valid until `expired_at`.
    pub fn expired(&self, peer: Option<PeerAddress>, expired_at: Timestamp) -> ProblemResponse {
        let detail = format!(
            "the token expired at {expired_at:.0}; ask for a new one, or create one with another token"
        );
        self.refuse(peer, ProblemResponse::new(ProblemKind::Unauthorized, detail))
    }

    /// Counts a refusal of an unauthenticated request; returns `why`, or 429 once there are too many from this address.
    ///
    /// The count does not affect requests with a valid token, so clients behind the same proxy cannot lock each other out.
    pub fn refuse(&self, peer: Option<PeerAddress>, why: ProblemResponse) -> ProblemResponse {
        match self.failures.take(peer.map(|PeerAddress(address)| network(address.ip()))) {
            Ok(()) => why,
            Err(after) => too_many("too many rejected requests from your address; try again later", after),
        }
    }

    /// Counts an anonymous request, against the same limit as refusals.
    pub fn count_anonymous(&self, peer: Option<PeerAddress>) -> Result<()> {
        let counted = self.failures.take(peer.map(|PeerAddress(address)| network(address.ip())));
        counted.map_err(|after| too_many("too many requests from your address; try again later", after))
    }

    /// Counts a request with a token.
    pub fn count_request(&self, token: TokenId) -> Result<()> {
        let counted = self.requests.take(token);
        counted.map_err(|after| too_many("too many requests with this token; try again later", after))
    }

    /// Counts a request with the secret of an environment, against the same limit as a token.
    pub fn count_environment(&self, environment: EnvironmentId) -> Result<()> {
        let counted = self.environments.take(environment);
        counted.map_err(|after| {
            too_many("too many requests with this environment's secret; try again later", after)
        })
    }
}

fn too_many(detail: &str, after: Duration) -> ProblemResponse {
    ProblemResponse::new(ProblemKind::TooManyRequests, detail).retry_after(after)
}

/// The key for an address: an IPv6 client usually has a whole /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}
