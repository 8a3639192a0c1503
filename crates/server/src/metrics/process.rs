//! CPU, memory and file metrics of this process, under the conventional Prometheus names.

use prometheus_client::{
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::{Registry, Unit},
};
use rustix::param::{clock_ticks_per_second, page_size};

/// Adds the metrics that the system provides.
pub(super) fn register(registry: &mut Registry) {
    if let Some(stat) = OwnProcessStat::read() {
        let ticks = clock_ticks_per_second() as f64;
        let cpu = ConstCounter::new(stat.cpu_ticks as f64 / ticks);
        registry.register_with_unit("process_cpu", "CPU time used", Unit::Seconds, cpu);
        let resident = ConstGauge::new(stat.resident_pages * page_size() as u64);
        let help = "Resident memory";
        registry.register_with_unit("process_resident_memory", help, Unit::Bytes, resident);
        if let Some(boot) = boot_seconds() {
            let started = ConstGauge::new(boot as f64 + stat.start_ticks as f64 / ticks);
            let help = "Start time of the process, as Unix time";
            registry.register_with_unit("process_start_time", help, Unit::Seconds, started);
        }
    }
    if let Ok(entries) = std::fs::read_dir("/proc/self/fd") {
        // Minus one for the directory itself.
        let open = ConstGauge::new(entries.count().saturating_sub(1) as u64);
        registry.register("process_open_fds", "Open file descriptors", open);
    }
}

/// The fields of `/proc/self/stat` that are used here.
struct OwnProcessStat {
    cpu_ticks: u64,
    /// Ticks from the boot to the start of the process.
    start_ticks: u64,
    resident_pages: u64,
}

impl OwnProcessStat {
    fn read() -> Option<Self> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // Field 2 is the program name in parentheses, which may itself contain spaces and parentheses. Skip past the last one.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some(Self { cpu_ticks: field(14)? + field(15)?, start_ticks: field(22)?, resident_pages: field(24)? })
    }
}

/// The boot time of the machine, as Unix time.
fn boot_seconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}
