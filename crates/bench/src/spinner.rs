//! Keeps the cores awake: a halted virtual CPU takes long to wake, and that is not what we measure.

use std::{
    fs, hint, io,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::{
    process::{Signal, set_parent_process_death_signal, setsid},
    thread::{CpuSet, sched_setaffinity},
};

/// The niceness of whoever matters least.
const LOWEST: &str = "19";

/// One spinner per core, until dropped.
#[derive(Debug)]
pub struct Spinners(Vec<Child>);

impl Spinners {
    /// Starts them from `stub`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(stub: &Path) -> io::Result<Self> {
        let cores = std::thread::available_parallelism()?.get();
        let start = |core: usize| {
            let mut command = Command::new(stub);
            command.args(["spin", &core.to_string()]).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
        };
        (0..cores).map(start).collect::<io::Result<_>>().map(Self)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Spins on one core at the lowest priority for as long as whoever started it lives.
///
/// # Errors
/// If it cannot be made so.
pub fn spin(core: usize) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)?;
    only_when_idle()?;
    last_of_all_sessions()?;
    loop {
        hint::spin_loop();
    }
}

/// Where time is shared out between sessions before it is between processes, the whole session has to stand back.
fn last_of_all_sessions() -> io::Result<()> {
    setsid()?;
    match fs::write("/proc/self/autogroup", LOWEST) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[expect(unsafe_code, reason = "the scheduling class has no safe interface")]
fn only_when_idle() -> io::Result<()> {
    // SAFETY: the parameter is a plain structure that outlives the call; zero means this thread.
    let done = unsafe {
        let parameter: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameter)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
