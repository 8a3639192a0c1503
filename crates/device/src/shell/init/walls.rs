//! Limits, and which files can be written: once more what the mounts say, in case they can be got around.

use std::{fs, io};

use landlock::{
    ABI, Access, AccessFs, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, Scope,
    path_beneath_rules,
};
use rustix::{
    io::Errno,
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

/// What the rules are made for; an older system enforces as much of them as it knows.
pub(super) const KNOWN: ABI = ABI::V9;

/// How many processes there may be: a build has some hundred, a fork bomb has an end.
// The system counts those of the user in this namespace; it does not count for root.
const PROCESSES_MAX: u64 = 4096;

/// How large a file may become: larger than what anybody builds, smaller than a disk.
const FILE_BYTES_MAX: u64 = 16 << 30;

/// How many files a process may have open, which is what servers and bundlers ask for.
const OPEN_FILES_MAX: u64 = 16384;

/// Of all processes the system ends these first when there is no memory left, and never their owner's for them.
// It is the most that can be said, and once there are walls nobody inside can take it back.
const ENDED_FIRST: &str = "1000";

/// Lets the system choose this process, and all that it starts, when there is no memory left.
pub(super) fn step_back() -> io::Result<()> {
    fs::write("/proc/self/oom_score_adj", ENDED_FIRST)
}

/// Sets limits, below those that hold already.
pub(super) fn limit() -> Result<(), Errno> {
    let limits = [
        (Resource::Nproc, PROCESSES_MAX),
        (Resource::Fsize, FILE_BYTES_MAX),
        (Resource::Nofile, OPEN_FILES_MAX),
        (Resource::Core, 0),
    ];
    for (resource, wanted) in limits {
        let lower = |now: Option<u64>| Some(now.map_or(wanted, |now| now.min(wanted)));
        let Rlimit { current, maximum } = getrlimit(resource);
        setrlimit(resource, Rlimit { current: lower(current), maximum: lower(maximum) })?;
    }
    Ok(())
}

/// Leaves everything that there is to be read and run, and only these places to be written. Processes outside and their
/// sockets are out of reach as far as the system knows of that, and `known` does: how far is returned.
pub(super) fn enclose(writable: &[String], known: ABI) -> Result<ABI, RulesetError> {
    let mut ruleset = Ruleset::default().handle_access(AccessFs::from_all(known))?;
    let scopes = Scope::from_all(known);
    if !scopes.is_empty() {
        ruleset = ruleset.scope(scopes)?;
    }
    // Nowhere are sockets of others to be reached; those that are made inside always are.
    let write = AccessFs::from_all(known) & !BitFlags::from(AccessFs::ResolveUnix);
    let status = ruleset
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::from_read(known)))?
        .add_rules(path_beneath_rules(writable, write))?
        .restrict_self()?;
    Ok(known.min(status.landlock.into()))
}
