//! Keeps the cores awake during a measurement.
//!
//! An idle virtual CPU halts and gives its time back to the hypervisor. Waking it takes long and varies with the load
//! on the host, and a request that crosses several processes pays for that several times. A spinner per core keeps
//! the CPU running. It yields to every other process at once, so it takes no time from the server under test.

use std::{
    fs, hint, io,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::{
    process::{Signal, set_parent_process_death_signal, setsid},
    thread::{CpuSet, sched_setaffinity},
};

/// The lowest priority on the scale of `nice`.
const LOWEST: &str = "19";

/// One spinner process per core. Dropping this kills them.
#[derive(Debug)]
pub struct Spinners(Vec<Child>);

impl Spinners {
    /// Starts one spinner per core with the program `bench-stub` at `stub`.
    ///
    /// # Errors
    /// If a process cannot be started.
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

/// Spins on one core at the lowest priority, until the process that started this one ends.
///
/// # Errors
/// If the kernel rejects the affinity or the priority.
pub fn spin(core: usize) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut cores = CpuSet::new();
    cores.set(core);
    sched_setaffinity(None, &cores)?;
    run_only_when_idle()?;
    lower_session_priority()?;
    loop {
        hint::spin_loop();
    }
}

/// Gives this process a session of its own with the lowest priority.
///
/// With autogroup scheduling, Linux divides CPU time between sessions first and between the processes of a session
/// second. The priority of a process then counts only within its session, so a spinner would get as much time as the
/// server if its session did not have the lowest priority too. Kernels without autogroups do not have the file.
fn lower_session_priority() -> io::Result<()> {
    setsid()?;
    match fs::write("/proc/self/autogroup", LOWEST) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Moves this process to the class `SCHED_IDLE`, which runs only when no other process wants the core.
#[expect(unsafe_code, reason = "the scheduling class has no safe interface")]
fn run_only_when_idle() -> io::Result<()> {
    // SAFETY: the parameter is a plain structure that outlives the call; zero means this thread.
    let done = unsafe {
        let parameter: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameter)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
