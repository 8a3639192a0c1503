//! Which addresses a command may not connect to: everything that ends on this machine, and what has no place beyond its link.

use std::{
    fs::File,
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// The IPv4 routes of this machine, those to itself included.
const IPV4_ROUTES: &str = "/proc/net/fib_trie";

/// Its IPv6 routes.
const IPV6_ROUTES: &str = "/proc/net/ipv6_route";

/// The largest table of routes that is read, which is more than that of a router of the whole internet.
const ROUTES_BYTES_MAX: u64 = 256 << 20;

/// The flag of an IPv6 route to this machine itself (`RTF_LOCAL`).
const IPV6_LOCAL: u32 = 0x8000_0000;

/// The field of an IPv6 route with its flags.
const IPV6_FLAGS_FIELD: usize = 8;

/// The prefix of IPv4 addresses that a gateway translates (NAT64, RFC 6052).
const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];

/// The first part of IPv6 addresses that contain an IPv4 address (6to4, RFC 3056).
const SIX_TO_FOUR: u16 = 0x2002;

/// Whether a command may not connect to `address`.
///
/// # Errors
/// If the routes of this machine cannot be read.
pub(super) fn is_refused(address: IpAddr) -> io::Result<bool> {
    for address in meanings(address) {
        if is_special(address) || is_local(address)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The address, and the IPv4 address that it stands for, if any.
fn meanings(address: IpAddr) -> impl Iterator<Item = IpAddr> {
    let contained = match address {
        IpAddr::V4(_) => None,
        IpAddr::V6(address) => contained_ipv4(address),
    };
    std::iter::once(address).chain(contained.map(IpAddr::V4))
}

fn contained_ipv4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match segments {
        [SIX_TO_FOUR, high, low, ..] => Some(from(high, low)),
        // `::ffff:a.b.c.d`, and the older `::a.b.c.d`.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(from(high, low)),
        [.., high, low] if segments.starts_with(&NAT64) => Some(from(high, low)),
        _ => None,
    }
}

fn is_special(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            // All of 0.0.0.0/8 means "this host".
            let is_this_host = address.octets()[0] == 0;
            is_this_host
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_broadcast()
        }
        IpAddr::V6(address) => {
            address.is_unspecified()
                || address.is_loopback()
                || address.is_unicast_link_local()
                || address.is_multicast()
        }
    }
}

/// Whether packets to this address stay on this machine. The routes know all addresses of its interfaces, and whole networks
/// that an administrator has assigned to the machine.
fn is_local(address: IpAddr) -> io::Result<bool> {
    let (path, parse): (_, fn(&str) -> Vec<Network>) = match address {
        IpAddr::V4(_) => (IPV4_ROUTES, ipv4_local_networks),
        IpAddr::V6(_) => (IPV6_ROUTES, ipv6_local_networks),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        // The kernel has no IPv6, so that no such address can be connected to.
        Err(error) if error.kind() == io::ErrorKind::NotFound && address.is_ipv6() => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut routes = String::new();
    if file.take(ROUTES_BYTES_MAX).read_to_string(&mut routes)? as u64 == ROUTES_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(parse(&routes).iter().any(|network| network.contains(address)))
}

/// A network, by its first address and the length of its prefix.
#[derive(Debug, PartialEq, Eq)]
struct Network {
    first: IpAddr,
    prefix: u32,
}

impl Network {
    fn contains(&self, address: IpAddr) -> bool {
        // Shifting by all bits is an overflow: the network with an empty prefix contains everything.
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(32 - self.prefix.min(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let differing = first.to_bits() ^ address.to_bits();
                differing.checked_shr(128 - self.prefix.min(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// A leaf `|-- ADDRESS` is followed by a line `/PREFIX SCOPE TYPE` for each of its routes.
fn ipv4_local_networks(routes: &str) -> Vec<Network> {
    let mut networks = Vec::new();
    let mut leaf = None;
    for line in routes.lines().map(str::trim_start) {
        if let Some(address) = line.strip_prefix("|-- ") {
            leaf = address.trim().parse().ok();
        } else if let (Some(first), Some(route)) = (leaf, line.strip_prefix('/')) {
            let mut words = route.split_ascii_whitespace();
            let prefix = words.next().and_then(|prefix| prefix.parse().ok());
            if let (Some(prefix), Some("LOCAL" | "BROADCAST")) = (prefix, words.nth(1)) {
                networks.push(Network { first: IpAddr::V4(first), prefix });
            }
        }
    }
    networks
}

/// Each line is a route: destination and prefix length in hexadecimal digits, source, next hop, metric and counters, flags,
/// interface.
fn ipv6_local_networks(routes: &str) -> Vec<Network> {
    let network = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let flags = u32::from_str_radix(fields.get(IPV6_FLAGS_FIELD)?, 16).ok()?;
        if flags & IPV6_LOCAL == 0 {
            return None;
        }
        let first = u128::from_str_radix(fields.first()?, 16).ok()?;
        let prefix = u32::from_str_radix(fields.get(1)?, 16).ok()?;
        Some(Network { first: IpAddr::V6(Ipv6Addr::from_bits(first)), prefix })
    };
    routes.lines().filter_map(network).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_refused_in_every_spelling() {
        for address in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "::ffff:0.0.0.0",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "fe80::1",
            "ff02::1",
            "::ffff:169.254.169.254",
        ] {
            assert!(is_refused(address.parse().unwrap()).unwrap(), "{address}");
        }
        for address in ["203.0.113.7", "2001:db8::7", "::ffff:203.0.113.7", "64:ff9b::cb00:7107"] {
            assert!(!is_refused(address.parse().unwrap()).unwrap(), "{address}");
        }
    }

    /// An address that the kernel would choose as our own, if this machine has any beside the loopback.
    #[test]
    fn the_addresses_of_the_interfaces_are_refused() {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        // Sends nothing: it only chooses a route.
        if socket.connect("203.0.113.7:9").is_err() {
            return;
        }
        let own = socket.local_addr().unwrap().ip();
        assert!(is_refused(own).unwrap(), "{own}");
        let IpAddr::V4(own) = own else { panic!("{own}") };
        assert!(is_refused(own.to_ipv6_mapped().into()).unwrap(), "{own}");
    }

    #[test]
    fn routes_to_the_machine_itself_are_found() {
        let routes = "Local:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 10.9.0.0\n        \
                      /16 host LOCAL\n        /24 link UNICAST\n     |-- 10.0.0.6\n        /32 host LOCAL\n";
        let network = |first: &str, prefix| Network { first: first.parse().unwrap(), prefix };
        let networks = ipv4_local_networks(routes);
        assert_eq!(networks, [network("10.9.0.0", 16), network("10.0.0.6", 32)]);
        let is_in = |address: &str| networks.iter().any(|network| network.contains(address.parse().unwrap()));
        assert!(is_in("10.9.255.1") && is_in("10.0.0.6") && !is_in("10.0.0.7") && !is_in("10.10.0.0"));
        let routes = "fd000000000000000000000000000005 80 00000000000000000000000000000000 00 \
                      00000000000000000000000000000000 00000000 00000002 00000000 80200001 eth0\n\
                      fd000000000000000000000000000000 40 00000000000000000000000000000000 00 \
                      00000000000000000000000000000000 00000100 00000001 00000000 00000001 eth0\n";
        assert_eq!(ipv6_local_networks(routes), [network("fd00::5", 128)]);
    }
}
