//! The time from the start of the server process to the first 200 from `/v1/health`.

use std::io;

use super::millis;
use crate::{BenchSetup, RunReport};

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    for _ in 0..setup.full_or_quick(15, 5) {
        for system in setup.systems() {
            report.add("start", system.name(), millis(setup.start(system)?.started_in()));
        }
    }
    Ok(())
}
