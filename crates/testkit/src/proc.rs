//! What the system says about a process.

use std::{fs, time::Duration};

/// The unit of `/proc/PID/stat`, on every Linux.
const TICK: Duration = Duration::from_millis(10);

/// The CPU time that a process has used.
pub fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name before may hold anything; the fields after its bracket are numbers. utime and stime are 14 and 15.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u32 =
        fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    TICK * ticks
}

/// The memory that a process has in use, in KiB.
pub fn rss_kib(pid: u32) -> u64 {
    // The sum over its mappings is exact; the counters of `status` lag behind by some pages per core.
    match field(&format!("/proc/{pid}/smaps_rollup"), "Rss:") {
        0 => field(&format!("/proc/{pid}/status"), "VmRSS:"),
        rss => rss,
    }
}

/// How much it has made the system write to disks, in bytes.
pub fn written_bytes(pid: u32) -> u64 {
    field(&format!("/proc/{pid}/io"), "write_bytes:")
}

/// The most that it ever had in use since `forget_peak`, in KiB. The system keeps it loosely: a later look may find
/// some pages less.
pub fn peak_kib(pid: u32) -> u64 {
    field(&format!("/proc/{pid}/status"), "VmHWM:")
}

/// Lets the peak begin anew.
pub fn forget_peak(pid: u32) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// The processes that it started and that have not ended.
pub fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let words = |list: String| Vec::from_iter(list.split_whitespace().filter_map(|pid| pid.parse().ok()));
    lists.flat_map(words).collect()
}

/// Whether it runs: neither gone nor waiting to be reaped.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

/// Ends it for good.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// The number behind a name in a file of such lines, or zero.
pub fn field(path: &str, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}
