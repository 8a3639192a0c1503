//! The first process in a sandbox: it takes from itself what a command must not have, starts the command, and says how it
//! ended. With it ends everybody else inside, which the system sees to.

mod filter;
mod sockets;
mod walls;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    net::SocketAddr,
    os::{
        fd::{FromRawFd, OwnedFd, RawFd},
        unix::process::ExitStatusExt,
    },
    process::{Command, ExitCode, ExitStatus},
};

use landlock::ABI;
use protocol::relay::CommandNetwork;
use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::{FdFlags, fcntl_setfd},
    process::{DumpableBehavior, Pid, WaitOptions, set_dumpable_behavior, wait},
};
use serde::{Deserialize, Serialize};

use self::sockets::LocalSockets;
use super::{proxy::handover::send_listener, report::Word};

/// The argument that makes the program the first process in a sandbox.
pub const ARGUMENT: &str = "sandbox-init";

/// What is before the names of the command's variables, so that nobody heeds them before it does: `LD_PRELOAD` would be
/// heeded by bubblewrap, outside.
pub(super) const VARIABLE_PREFIX: &str = "TOMBOLO_ENV_";

/// Begins the names of the variables that contain the command: its program (`…0`) and its arguments (`…1` and so on). They are not
/// passed as arguments of bubblewrap and of this program, because every user of the machine can read the arguments of a process.
const COMMAND_PREFIX: &str = "TOMBOLO_COMMAND_";

/// The variables by which programs find the proxy. Some read one spelling only.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// The variables that name hosts for which programs use no proxy: there is no other way to any host.
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// What a program returns that could not be started, as shells have it.
const FAILED: u8 = 126;

/// What the first process is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Orders {
    /// Where it reports to.
    pub(super) report: RawFd,
    /// Where something may be written.
    pub(super) writable: Vec<String>,
    /// What there is to be reached.
    pub(super) network: CommandNetwork,
    /// Where the listener of the proxy is sent, if the command has one.
    pub(super) proxy: Option<RawFd>,
    /// The version of landlock of which nothing newer is used.
    pub(super) landlock: i32,
}

impl Orders {
    pub(super) fn to_argument(&self) -> String {
        // Numbers and texts always can be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Why there is no command.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("this command is internal: it runs as the first process of a sandbox")]
    Orders,
    #[error("could not set the OOM score")]
    Memory(#[source] io::Error),
    #[error("could not set resource limits")]
    Limits(#[from] rustix::io::Errno),
    #[error("could not restrict file access with Landlock")]
    Walls(#[from] landlock::RulesetError),
    #[error("could not install the seccomp filter")]
    Filter(#[from] filter::Error),
    #[error("could not open the listener of the proxy")]
    Proxy(#[source] io::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What a program does that was started with [`ARGUMENT`], with what follows it.
pub fn serve(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match run(arguments) {
        Ok(status) => ExitCode::from(u8::try_from(code(status)).unwrap_or(FAILED)),
        Err(error) => {
            // It is not passed on: nothing is the command's before it has started.
            eprintln!("sandbox-init: {}", protocol::ErrorChain(&error));
            ExitCode::from(FAILED)
        }
    }
}

fn run(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitStatus, Error> {
    let orders = arguments.next().and_then(|orders| serde_json::from_str::<Orders>(orders.to_str()?).ok());
    let mut words = command_words();
    let (Some(orders), Some(program)) = (orders, words.next()) else { return Err(Error::Orders) };
    let mut report = take(orders.report)?;
    process::restore_default_signals();
    let proxy = match set_up(&orders) {
        Ok(proxy) => proxy,
        Err(error) => {
            report.write_all(Word::Failed.line().as_bytes())?;
            return Err(error);
        }
    };
    let mut command = Command::new(program);
    command.args(words).env_clear().envs(environment());
    if let Some(proxy) = proxy {
        command.envs(PROXY_VARIABLES.map(|name| (name, format!("http://{proxy}"))));
        command.envs(NO_PROXY_VARIABLES.map(|name| (name, "")));
    }
    let child = command.spawn();
    let child = match child {
        Ok(child) => child,
        Err(error) => {
            let word = match error.kind() {
                io::ErrorKind::NotFound => Word::NotFound,
                io::ErrorKind::PermissionDenied => Word::NotExecutable,
                _ if error.raw_os_error() == Some(libc::ENOEXEC) => Word::NotExecutable,
                _ => Word::Failed,
            };
            report.write_all(word.line().as_bytes())?;
            return Err(error.into());
        }
    };
    report.write_all(Word::Started.line().as_bytes())?;
    let status = ended(Pid::from_child(&child))?;
    let word = match status.signal() {
        Some(signal) => Word::Killed(signal),
        None => Word::Exited(status.code().unwrap_or_default()),
    };
    // The exit status must not depend on the report: the device falls back to it.
    let _ = report.write_all(word.line().as_bytes());
    Ok(status)
}

/// Takes over an inherited descriptor, so that the command does not inherit it.
#[expect(unsafe_code, reason = "a descriptor that was inherited is known by its number only")]
fn take(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: the device opened it for us and passed its number; nothing else here knows it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    fcntl_setfd(&descriptor, FdFlags::CLOEXEC)?;
    // All that we ever write is far smaller than what a pipe or socket holds. If it is full all the same, waiting would keep the
    // sandbox alive.
    fcntl_setfl(&descriptor, fcntl_getfl(&descriptor)? | OFlags::NONBLOCK)?;
    Ok(descriptor.into())
}

/// Prepares this process for the command. Returns the address of the proxy, if the command has one.
fn set_up(orders: &Orders) -> Result<Option<SocketAddr>, Error> {
    // Before the walls, and closed again before the command starts: only the device accepts connections.
    let proxy = orders.proxy.map(|descriptor| send_listener(&take(descriptor)?.into()));
    let proxy = proxy.transpose().map_err(Error::Proxy)?;
    confine(orders)?;
    Ok(proxy)
}

/// Takes from this process, and so from the command, what it must not have.
fn confine(orders: &Orders) -> Result<(), Error> {
    walls::step_back().map_err(Error::Memory)?;
    walls::limit()?;
    let enforced = walls::enclose(&orders.writable, walls::KNOWN.min(ABI::from(orders.landlock)))?;
    filter::apply(LocalSockets::of(orders.network, enforced))?;
    // The command runs as the same user and could open our descriptors in `/proc/1/fd`, the report among them. The kernel
    // forbids that for a process that is not dumpable; the command becomes dumpable again when it is executed. Last, because
    // our own files in `/proc` belong to root from here on.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// The variables that hand the program and the arguments of `command` to the first process of a sandbox.
pub(super) fn command_variables(command: &[OsString]) -> impl Iterator<Item = (String, &OsString)> {
    command.iter().enumerate().map(|(index, word)| (format!("{COMMAND_PREFIX}{index}"), word))
}

/// The program and the arguments in [`command_variables`].
#[expect(
    clippy::disallowed_methods,
    reason = "the device passes the command to this process in these variables"
)]
fn command_words() -> impl Iterator<Item = OsString> {
    (0..).map_while(|index| std::env::var_os(format!("{COMMAND_PREFIX}{index}")))
}

/// The environment of the command, and the mark by which it is found.
fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter_map(|(name, value)| {
        if name == OsStr::new(process::MARK_VARIABLE) {
            return Some((name, value));
        }
        let name = name.to_str()?.strip_prefix(VARIABLE_PREFIX)?;
        Some((name.into(), value))
    })
}

/// Waits for the command, and for whoever is orphaned meanwhile.
fn ended(command: Pid) -> io::Result<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or_default()
}
