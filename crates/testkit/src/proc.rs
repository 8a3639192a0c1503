//! Reads a process's resource usage from `/proc`. Figures of a process that has ended are zero.

use std::{fs, time::Duration};

/// The unit of times in `/proc/PID/stat`: USER_HZ, which is 100 on all common architectures.
const TICK: Duration = Duration::from_millis(10);

/// The CPU time that a process has used, in user and kernel mode.
pub fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Field 2 is the program's name in brackets and may itself contain spaces and brackets, so parsing starts after
    // the last bracket, at field 3. utime and stime are fields 14 and 15.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u32 =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}

/// The resident memory of a process, in KiB.
pub fn rss_kib(pid: u32) -> u64 {
    // `smaps_rollup` sums up the mappings and is exact; the counters in `status` lag behind by some pages per core.
    // `status` is the fallback where `smaps_rollup` cannot be read.
    match field(&format!("/proc/{pid}/smaps_rollup"), "Rss:") {
        0 => field(&format!("/proc/{pid}/status"), "VmRSS:"),
        rss => rss,
    }
}

/// The bytes that a process has caused the kernel to write to disks.
pub fn written_bytes(pid: u32) -> u64 {
    field(&format!("/proc/{pid}/io"), "write_bytes:")
}

/// The highest resident memory of a process since its start or the last [`forget_peak`], in KiB. The kernel tracks it
/// only approximately: a later reading may be lower by some pages.
pub fn peak_kib(pid: u32) -> u64 {
    field(&format!("/proc/{pid}/status"), "VmHWM:")
}

/// Resets the peak to the current resident memory.
pub fn forget_peak(pid: u32) {
    // Writing 5 to `clear_refs` resets VmHWM.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// The child processes of a process. The kernel lists them per thread that started them, so all threads are read.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let words = |list: String| Vec::from_iter(list.split_whitespace().filter_map(|pid| pid.parse().ok()));
    lists.flat_map(words).collect()
}

/// Whether a process runs: it exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

/// Sends SIGKILL. Does nothing if the process has ended.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The number after `name` in a file with one name and number per line, such as `/proc/meminfo`; or zero.
pub fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
