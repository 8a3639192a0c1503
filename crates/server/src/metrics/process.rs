//! What this process takes of the machine, by the names that everybody uses.

use prometheus_client::{
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::{Registry, Unit},
};
use rustix::param::{clock_ticks_per_second, page_size};

/// Tells what the process takes; where the system does not say it, nothing.
pub(super) fn register(registry: &mut Registry) {
    if let Some(stat) = Stat::read() {
        let ticks = clock_ticks_per_second() as f64;
        let cpu = ConstCounter::new(stat.cpu_ticks as f64 / ticks);
        registry.register_with_unit(
            "process_cpu",
            "The time that processors worked for us",
            Unit::Seconds,
            cpu,
        );
        let resident = ConstGauge::new(stat.resident_pages * page_size() as u64);
        let help = "The memory that we hold";
        registry.register_with_unit("process_resident_memory", help, Unit::Bytes, resident);
        if let Some(boot) = boot_seconds() {
            let started = ConstGauge::new(boot as f64 + stat.start_ticks as f64 / ticks);
            let help = "When we were started, since the beginning of 1970";
            registry.register_with_unit("process_start_time", help, Unit::Seconds, started);
        }
    }
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        // One of them is the directory itself.
        let open = ConstGauge::new(entries.count().saturating_sub(1) as u64);
        registry.register("process_open_fds", "Files and sockets that are open", open);
    }
}

/// What `/proc/self/stat` says.
struct Stat {
    cpu_ticks: u64,
    /// Since the machine was started.
    start_ticks: u64,
    resident_pages: u64,
}

impl Stat {
    fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program comes second, in brackets, and may hold anything.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { cpu_ticks: field(14)? + field(15)?, start_ticks: field(22)?, resident_pages: field(24)? })
    }
}

/// When the machine was started.
fn boot_seconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}
