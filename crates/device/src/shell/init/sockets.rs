//! Which sockets of the kind that stays on a machine a command may have. Each such socket can ask for any other by its name,
//! and a filter of system calls does not see names.

use landlock::{ABI, Access, AccessFs, Scope};
use protocol::relay::CommandNetwork;

/// Which sockets of the kind that stays on a machine (`AF_UNIX`) can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LocalSockets {
    /// All: the system sees to it that none outside is reached.
    All,
    /// Pairs that are connected for good, which know nobody but each other.
    Pairs,
}

impl LocalSockets {
    /// Those that a command may have on this network where this much of landlock is in force.
    pub(super) fn of(network: CommandNetwork, enforced: ABI) -> Self {
        let kept_inside = match network {
            // Those without a file belong to a network, and there is another one inside. Those with a file are wherever
            // that is: in a directory that is lent, also one that may only be read.
            CommandNetwork::None | CommandNetwork::Proxy => {
                AccessFs::from_all(enforced).contains(AccessFs::ResolveUnix)
            }
            // Whoever lends the network lends what listens in a directory that is lent, too, but never those without a
            // file: they belong to the desktop.
            CommandNetwork::Host => Scope::from_all(enforced).contains(Scope::AbstractUnixSocket),
        };
        if kept_inside { Self::All } else { Self::Pairs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// relay-138: where the system cannot keep sockets inside, there are none that could reach out.
    #[test]
    fn there_are_sockets_only_where_they_are_kept_inside() {
        let check = |network, enforced, expected| {
            assert_eq!(LocalSockets::of(network, enforced), expected, "{network:?} {enforced:?}");
        };
        let networks = [CommandNetwork::None, CommandNetwork::Proxy, CommandNetwork::Host];
        for enforced in [ABI::Unsupported, ABI::V1, ABI::V5] {
            networks.into_iter().for_each(|network| check(network, enforced, LocalSockets::Pairs));
        }
        for enforced in [ABI::V6, ABI::V8] {
            check(CommandNetwork::None, enforced, LocalSockets::Pairs);
            check(CommandNetwork::Proxy, enforced, LocalSockets::Pairs);
            check(CommandNetwork::Host, enforced, LocalSockets::All);
        }
        networks.into_iter().for_each(|network| check(network, ABI::V9, LocalSockets::All));
    }
}
