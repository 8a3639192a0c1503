//! The time from the start of the server process to the first 200 from `/v1/health`.

use std::io;

use super::millis;
use crate::{Lab, Report};

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    for _ in 0..lab.size(15, 5) {
        for subject in lab.subjects() {
            report.add("start", subject.name(), millis(lab.start(subject)?.started_in()));
        }
    }
    Ok(())
}
