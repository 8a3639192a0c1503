//! One child process, held so that it can neither hurt its parent nor outlive it.
//!
//! A child runs in its own process group, dies with its parent, and is ended by a ladder: close its stdin, TERM the
//! group, KILL the group and whoever left it. Everything between the two sides has a limit: lines, stdin, stderr and
//! the wait for the end.
//!
//! * [`spawn()`]: lines, for a child that speaks a line protocol. stdout is read in the caller's task.
//! * [`spawn_raw`]: stdout and stderr as they come.
//! * [`spawn_pty`]: the same on a terminal.
//!
//! This crate knows nothing of agents, JSON or HTTP.

mod birth;
mod control;
mod error;
mod framer;
mod group;
mod leader;
mod life;
mod lines;
mod mark;
mod orphans;
mod outlet;
mod outputs;
#[cfg(target_os = "linux")]
mod procfs;
mod pty;
mod spawn;
mod spawner;
mod spec;
mod stderr;
mod stdin;
mod supervisor;
mod watched;

pub use birth::hear_signals;
pub use control::Control;
pub use error::{Error, Reason};
pub use framer::{Chunk, Framer, Piece, READ_BYTES};
pub use life::Exit;
pub use lines::Lines;
pub use mark::MARK_VARIABLE;
pub use orphans::Orphans;
pub use outlet::{SETTLE_IDLE, SETTLE_MAX};
pub use outputs::{Output, Outputs, Stream};
pub use pty::{Pty, Screen, Size, spawn_pty};
pub use rustix::process::Signal;
pub use spawn::{Process, Raw, spawn, spawn_raw};
pub use spec::{Limits, Spec};
pub use stderr::STDERR_TAIL_BYTES;
pub use stdin::{SendError, Stdin};
pub use supervisor::all_gone;
