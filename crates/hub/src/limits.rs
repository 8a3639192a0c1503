//! How much of the hub one may use.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::Duration,
};

use protocol::{EnvironmentId, ProblemKind, TokenId};
use server::{PeerAddress, ProblemResponse, Result};

use crate::rate_limiter::{KeyedRateLimiter, Rate};

/// How much of the hub one may use.
pub(crate) struct Limits {
    failures: KeyedRateLimiter<Option<IpAddr>>,
    requests: KeyedRateLimiter<TokenId>,
    environments: KeyedRateLimiter<EnvironmentId>,
}

impl Limits {
    pub(crate) fn new(failures: Rate, requests: Rate) -> Self {
        let environments = KeyedRateLimiter::new(requests);
        Self {
            failures: KeyedRateLimiter::new(failures),
            requests: KeyedRateLimiter::new(requests),
            environments,
        }
    }

    /// What to tell somebody whose token is no good.
    pub(crate) fn not_let_in(&self, peer: Option<PeerAddress>) -> ProblemResponse {
        let detail = "send a hub token as `Authorization: Bearer …`";
        self.refused(peer, ProblemResponse::new(ProblemKind::Unauthorized, detail))
    }

    /// What to tell somebody who is refused before it is known who they are: why, or that they have tried too often.
    ///
    /// Who has a good token is let in all the same: others, such as those behind the same proxy, cannot lock them out.
    pub(crate) fn refused(&self, peer: Option<PeerAddress>, why: ProblemResponse) -> ProblemResponse {
        match self.failures.take(peer.map(|PeerAddress(address)| place(address.ip()))) {
            Ok(()) => why,
            Err(after) => too_many("too many rejected requests from your address; try again later", after),
        }
    }

    /// Counts a request of somebody of whom nothing is known, as often as they may be refused.
    pub(crate) fn spend_unknown(&self, peer: Option<PeerAddress>) -> Result<()> {
        let counted = self.failures.take(peer.map(|PeerAddress(address)| place(address.ip())));
        counted.map_err(|after| too_many("too many requests from your address; try again later", after))
    }

    /// Counts a request.
    pub(crate) fn spend(&self, token: TokenId) -> Result<()> {
        let counted = self.requests.take(token);
        counted.map_err(|after| too_many("too many requests with this token; try again later", after))
    }

    /// Counts a request of whoever uses an environment, as often as with a token.
    pub(crate) fn spend_in(&self, environment: EnvironmentId) -> Result<()> {
        let counted = self.environments.take(environment);
        counted.map_err(|after| {
            too_many("too many requests with this environment's secret; try again later", after)
        })
    }
}

fn too_many(detail: &str, after: Duration) -> ProblemResponse {
    ProblemResponse::new(ProblemKind::TooManyRequests, detail).retry_after(after)
}

/// Whoever has one IPv6 address has a network of them.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        v4 => v4,
    }
}
