//! Devices that a runtime uses through the hub: file reads and small requests compared with bare WebSockets, command
//! output that no client reads, and many devices at once.

mod flood;
mod many;
mod quick;

use std::{io, time::Duration};

use crate::{Lab, Report, Spinners};

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Only the first part is sequential and gains from spinners; see `Measure::keeps_awake`.
        let spinners = Spinners::start(&lab.stub)?;
        quick::run(lab, report).await?;
        drop(spinners);
        flood::run(lab, report).await?;
        many::run(lab, report).await
    })
}

/// Sorts the times and returns a percentile of them.
fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}
