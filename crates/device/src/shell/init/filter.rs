//! Which system calls a command cannot make: those that take a sandbox apart, reach into others, or are more of the kernel
//! than any build or test needs.

use std::collections::BTreeMap;

use libc::{
    CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::sockets::LocalSockets;

/// What makes a namespace.
const NAMESPACES: [i32; 8] = [
    CLONE_NEWUSER,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWNET,
    CLONE_NEWIPC,
    CLONE_NEWUTS,
    CLONE_NEWCGROUP,
    // CLONE_NEWTIME, which libc does not name.
    0x80,
];

/// Kinds of sockets that can be had besides local ones: the others are seldom used and often broken.
const SOCKETS: [i32; 3] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Where the type of a socket is, beside flags.
const SOCKET_TYPE: u64 = 0xf;

/// Types of local sockets that can ask for others although they are one of a pair. The second is the first by another name.
const UNBOUND: [i32; 2] = [libc::SOCK_DGRAM, libc::SOCK_RAW];

/// What types for whoever has the terminal: TIOCSTI and TIOCLINUX, whose types in libc differ from system to system.
const TYPING: [u64; 2] = [0x5412, 0x541c];

/// What makes a program run as its owner or its group, for every user who can start it.
const SET_ID_BITS: [u32; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Flags with which opening a file creates one; without them the mode is not read, and may be anything.
// The second is the part of `O_TMPFILE` that is not `O_DIRECTORY`.
const CREATES: [i32; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Calls that set the mode of a file, with the number of the argument that has it. `mkdir` is not among them: the kernel
/// ignores both bits there.
const MODE_CALLS: &[(libc::c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that open a file and may create it, with the numbers of the arguments that have the flags and the mode.
const OPEN_CALLS: &[(libc::c_long, u8, u8)] = &[
    (libc::SYS_openat, 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
];

/// Calls that take what a filter would have to check in memory, where it cannot look: `clone3` its namespaces and `openat2`
/// the mode of a new file. They fail as on a kernel that lacks them, so that callers use `clone` and `openat`.
const ABSENT: [libc::c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];

/// `open_tree_attr`, which libc does not name. New calls have the same number on all architectures.
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// Refused whatever they are called with.
const REFUSED: &[libc::c_long] = &[
    // Others.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_syslog,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    // Keys, which belong to the user and know no namespace.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The clock.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS__sysctl,
];

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error(transparent)]
    Rules(#[from] seccompiler::BackendError),
    #[error(transparent)]
    Apply(#[from] seccompiler::Error),
}

/// Filters the system calls of this process, and of all that it starts.
pub(super) fn apply(sockets: LocalSockets) -> Result<(), Error> {
    let absent = ABSENT.map(|call| (call, Vec::new())).into();
    seccompiler::apply_filter(&program(absent, libc::ENOSYS)?)?;
    seccompiler::apply_filter(&program(rules(sockets)?, libc::EPERM)?)?;
    Ok(())
}

fn rules(sockets: LocalSockets) -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    for call in [libc::SYS_unshare, libc::SYS_clone] {
        let flags = NAMESPACES.map(|flag| u64::from(flag.unsigned_abs()));
        let makes = |flag| rule(vec![condition(0, SeccompCmpOp::MaskedEq(flag), flag)?]);
        rules.insert(call, flags.into_iter().map(makes).collect::<Result<_, Error>>()?);
    }
    let types = |request| rule(vec![condition(1, SeccompCmpOp::Eq, request)?]);
    rules.insert(libc::SYS_ioctl, TYPING.into_iter().map(types).collect::<Result<_, Error>>()?);
    let is_not = |family: i32| condition(0, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()));
    let local = (sockets == LocalSockets::All).then_some(libc::AF_UNIX);
    let others = SOCKETS.into_iter().chain(local).map(is_not).collect::<Result<_, Error>>()?;
    rules.insert(libc::SYS_socket, vec![rule(others)?]);
    if sockets == LocalSockets::Pairs {
        let is = |kind: i32| u64::from(kind.unsigned_abs());
        let asks = |kind| rule(vec![condition(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), is(kind))?]);
        rules.insert(libc::SYS_socketpair, UNBOUND.into_iter().map(asks).collect::<Result<_, Error>>()?);
    }
    rules.extend(set_id_rules()?);
    Ok(rules)
}

/// Refuses every mode with a set-id bit. A program that a command leaves in a lent directory would otherwise run as the
/// device's owner for all other users of the machine, outside of the sandbox.
fn set_id_rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let has = |argument, bits: u32| condition(argument, SeccompCmpOp::MaskedEq(bits.into()), bits.into());
    let mut rules = BTreeMap::new();
    for (call, mode) in MODE_CALLS {
        let refused = SET_ID_BITS.map(|bit| rule(vec![has(*mode, bit)?]));
        rules.insert(*call, refused.into_iter().collect::<Result<_, Error>>()?);
    }
    for (call, flags, mode) in OPEN_CALLS {
        let pairs = CREATES.into_iter().flat_map(|flag| SET_ID_BITS.map(|bit| (flag.unsigned_abs(), bit)));
        let refused = pairs.map(|(flag, bit)| rule(vec![has(*flags, flag)?, has(*mode, bit)?]));
        rules.insert(*call, refused.collect::<Result<_, Error>>()?);
    }
    Ok(rules)
}

fn condition(argument: u8, how: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Error> {
    // The kernel heeds the lower half of these arguments, so a filter must not heed more.
    Ok(SeccompCondition::new(argument, Dword, how, value)?)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, Error> {
    Ok(SeccompRule::new(conditions)?)
}

fn program(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> Result<BpfProgram, Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let action = SeccompAction::Errno(errno.unsigned_abs());
    let program: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?.try_into()?;
    Ok(other_numbers().into_iter().chain(program).collect())
}

/// A second set of numbers for the same calls (x32), which no filter of the first would see: none of them is there.
#[cfg(target_arch = "x86_64")]
fn other_numbers() -> Vec<sock_filter> {
    const LOAD_NUMBER: u16 = 0x20;
    const IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND_SET: u32 = 0x4000_0000;
    const REFUSE: u32 = 0x0005_0000 | libc::ENOSYS.unsigned_abs();
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![step(LOAD_NUMBER, 0, 0, 0), step(IF_AT_LEAST, 0, 1, SECOND_SET), step(RETURN, 0, 0, REFUSE)]
}

#[cfg(not(target_arch = "x86_64"))]
fn other_numbers() -> Vec<sock_filter> {
    Vec::new()
}
