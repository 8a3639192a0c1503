//! The machine on which a run was made.

use std::{fs, path::Path};

use serde::Serialize;

use super::proc;

/// The machine on which a run was made.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Machine {
    /// The model name of the processor.
    pub cpu: String,
    /// The number of cores that this process may use.
    pub cores: usize,
    /// The release of the Linux kernel.
    pub kernel: String,
    /// The total memory.
    pub memory_mib: u64,
    /// The load average of the minute before the run. A high value means that other programs disturbed the run.
    pub load: String,
}

impl Machine {
    /// Describes the current machine.
    pub fn current() -> Self {
        let read = |path: &str| fs::read_to_string(Path::new(path)).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let model = info.lines().find(|line| line.starts_with("model name"));
        Self {
            cpu: model
                .and_then(|line| line.split_once(": "))
                .map_or_else(String::new, |(_, model)| model.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            memory_mib: proc::field("/proc/meminfo", "MemTotal:") / 1024,
            load: read("/proc/loadavg").split(' ').next().unwrap_or_default().to_owned(),
        }
    }
}
