//! The command that becomes the child, and what the child does between `fork` and `exec`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{self, Pid};

use crate::Spec;
use crate::mark::{MARK_VARIABLE, Mark};

/// What the child talks to.
pub(crate) enum Wiring {
    /// Three pipes, in a process group of its own or, if the [`Spec`] says so, a session.
    Pipes,
    /// A terminal, in a session of its own.
    Terminal(OwnedFd),
}

/// Describes the child completely; the spawner has only to start it.
pub(crate) fn command(spec: &Spec, mark: &Mark, wiring: Wiring) -> io::Result<Command> {
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
    let terminal = match wiring {
        Wiring::Pipes => {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            if !spec.session {
                command.process_group(0);
            }
            false
        }
        Wiring::Terminal(slave) => {
            command.env("TERM", "xterm-256color");
            command.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
            true
        }
    };
    command.envs(spec.env.iter().map(|(name, value)| (name, value)));
    command.env(MARK_VARIABLE, mark.value());
    let session = if terminal {
        Session::Terminal
    } else if spec.session {
        Session::Bare
    } else {
        Session::Ours
    };
    prepare(&mut command, session, spec.deaf, spec.keeps.clone());
    Ok(command)
}

/// Which session the child is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Session {
    /// That of its parent.
    Ours,
    /// Its own, without a terminal.
    Bare,
    /// Its own, with its stdin for a terminal.
    Terminal,
}

/// Adds what the child does to itself before it becomes the program.
#[expect(unsafe_code, reason = "what happens between fork and exec can only be given to `pre_exec`")]
fn prepare(command: &mut Command, session: Session, deaf: bool, keeps: Vec<Arc<OwnedFd>>) {
    let parent = process::getpid();
    let before_exec = move || {
        reset_signals(deaf);
        close_the_rest();
        for descriptor in &keeps {
            fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        die_with(parent)?;
        if session != Session::Ours {
            process::setsid()?;
        }
        if session == Session::Terminal {
            // SAFETY: descriptor 0 is the terminal's, which was put there just before and stays open until `exec`.
            process::ioctl_tiocsctty(unsafe { BorrowedFd::borrow_raw(0) }.as_fd())?;
        }
        Ok(())
    };
    // SAFETY: the closure runs in the child of a process with many threads, so it may only do what is safe in a signal
    // handler. It makes system calls, and it neither allocates nor takes a lock.
    unsafe { command.pre_exec(before_exec) };
}

/// Heeds all signals again, as [`Spec::deaf`] and others before us may have wished otherwise.
pub fn hear_signals() {
    reset_signals(false);
}

/// Signals that we ignore or block would stay so in the child: a daemon under `nohup` had children that ignore HUP.
#[expect(unsafe_code, reason = "rustix offers no stable way to set a signal's disposition")]
fn reset_signals(deaf: bool) {
    for signal in 1..=64 {
        // Who ignores the end of its children could not wait for them, and CONT goes with STOP, which cannot be ignored.
        let ignored = deaf && !matches!(signal, libc::SIGCHLD | libc::SIGCONT);
        let disposition = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither runs code of ours. What cannot be set, like KILL, is refused, which changes nothing.
        unsafe { libc::signal(signal, disposition) };
    }
    // SAFETY: the set is initialised by `sigemptyset` before it is read, and both calls are safe in a signal handler.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Marks all descriptors but the three: one that some library opened without `O_CLOEXEC` stays with us.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "rustix has no `close_range`")]
fn close_the_rest() {
    // SAFETY: the flag only marks descriptors, so that `exec` closes them. Kernels before 5.11 refuse it, and then the
    // descriptors that were opened properly are marked all the same.
    unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

#[cfg(not(target_os = "linux"))]
fn close_the_rest() {}

/// Has the kernel kill the child when the thread that started it ends: hence the one spawner thread.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    process::set_parent_process_death_signal(Some(process::Signal::KILL))?;
    // The parent may have died before the line above: nobody would be told any more.
    if process::getppid() != Some(parent) {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Pid) -> io::Result<()> {
    Ok(())
}
