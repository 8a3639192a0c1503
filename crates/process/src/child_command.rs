//! The command line of a child, and the system calls between `fork` and `exec`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{self, Pid};

use crate::ProcessSpec;
use crate::child_mark::{ChildMark, MARK_VARIABLE};

/// How the child's stdin, stdout and stderr are connected.
pub(crate) enum ChildStdio {
    /// To three pipes. The child gets a process group of its own, or a session if [`ProcessSpec::new_session`] is set.
    Pipes,
    /// To a pseudo-terminal. The child gets a session of its own.
    Terminal(OwnedFd),
}

/// Builds the complete command; the spawner thread only has to start it.
pub(crate) fn command(spec: &ProcessSpec, mark: &ChildMark, stdio: ChildStdio) -> io::Result<Command> {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args);
    if spec.env_clear {
        command.env_clear();
    }
    for name in &spec.env_remove {
        command.env_remove(name);
    }
    if let Some(cwd) = &spec.cwd {
        command.current_dir(cwd);
    }
    let terminal = match stdio {
        ChildStdio::Pipes => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            if !spec.new_session {
                command.process_group(0);
            }
            false
        }
        ChildStdio::Terminal(slave) => {
            command.env("TERM", "xterm-256color");
            command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
            true
        }
    };
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.env(MARK_VARIABLE, mark.value());
    let session = if terminal {
        SessionKind::Terminal
    } else if spec.new_session {
        SessionKind::Detached
    } else {
        SessionKind::Inherited
    };
    prepare_child(&mut command, session, spec.ignore_signals, spec.inherited_fds.clone());
    Ok(command)
}

/// The session of the child.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SessionKind {
    /// The parent's session.
    Inherited,
    /// A new session without a terminal.
    Detached,
    /// A new session whose controlling terminal is the child's stdin.
    Terminal,
}

/// Adds the steps that the child performs on itself before `exec`.
#[expect(unsafe_code, reason = "`pre_exec` is the only way to run code between fork and exec")]
fn prepare_child(
    command: &mut Command,
    session: SessionKind,
    ignore_signals: bool,
    inherited_fds: Vec<Arc<OwnedFd>>,
) {
    let parent = process::getpid();
    let before_exec = move || {
        set_signal_dispositions(ignore_signals);
        close_other_fds_on_exec();
        for fd in &inherited_fds {
            fcntl_setfd(fd, FdFlags::empty())?;
        }
        die_with(parent)?;
        if session != SessionKind::Inherited {
            process::setsid()?;
        }
        if session == SessionKind::Terminal {
            // SAFETY: descriptor 0 is the terminal; it was put there just before and stays open until `exec`.
            process::ioctl_tiocsctty(unsafe { BorrowedFd::borrow_raw(0) }.as_fd())?;
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child of a multi-threaded process, so it may only do what is safe in a signal
    // handler. It makes system calls; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(before_exec) };
}

/// Restores the default disposition of all signals in this process, which a parent may have started with signals ignored
/// (`nohup`, or [`ProcessSpec::ignore_signals`]).
pub fn restore_default_signals() {
    set_signal_dispositions(false);
}

/// Sets all signals to their default, or to ignored, and unblocks them. Ignored and blocked signals are inherited through
/// `exec`: without this the children of a daemon under `nohup` would ignore SIGHUP.
#[expect(unsafe_code, reason = "rustix offers no stable way to set a signal's disposition")]
fn set_signal_dispositions(ignore: bool) {
    for signal in 1..=64 {
        // A process that ignores SIGCHLD cannot wait for its children. SIGCONT must work to undo SIGSTOP, which cannot
        // be ignored.
        let ignored = ignore && !matches!(signal, libc::SIGCHLD | libc::SIGCONT);
        let disposition = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither disposition runs code of ours. Signals that cannot be set, like KILL, fail without effect.
        unsafe { libc::signal(signal, disposition) };
    }
    // SAFETY: the set is initialised by `sigemptyset` before it is read, and both calls are safe in a signal handler.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Sets the close-on-exec flag on all descriptors but stdin, stdout and stderr: a library may have opened one without it.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "rustix has no `close_range`")]
fn close_other_fds_on_exec() {
    // SAFETY: this only sets flags. Kernels before 5.11 refuse it; descriptors that were opened with the flag are not
    // inherited even then.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

#[cfg(not(target_os = "linux"))]
fn close_other_fds_on_exec() {}

/// Makes the kernel kill the child when the thread that forked it ends: see the spawner thread.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    process::set_parent_process_death_signal(Some(process::Signal::KILL))?;
    // The parent may have died before the call above; then the signal would never come.
    if process::getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}
