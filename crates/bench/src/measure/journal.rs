//! The durable journal without a server: events per second, latency of an append, and bytes written to disk.

use std::{
    fs, io, thread,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use journal::{
    FrameBuffer, Retention,
    durable::{DurableJournal, JournalStore},
};
use tempfile::TempDir;
use tokio::sync::{mpsc, oneshot};

use super::millis;
use crate::{BenchSetup, RunReport, proc};

/// As many journals as the largest run of the `sessions` measurement has sessions.
const JOURNALS: usize = 200;

const EVENT_BYTES: usize = 300;

/// The number of concurrent appends to one journal.
const AHEAD: usize = 8;

/// Appends per second, over all journals, while the latency is measured.
const PACE: u64 = 10_000;

/// The queue of the floor's thread. It holds more requests than arrive during a stall of one second.
const REQUESTS_MAX: usize = 16 << 10;

pub(super) fn run(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    // One worker thread is enough: this thread and the journal's writer thread need CPU time too.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    for _ in 0..setup.full_or_quick(5, 2) {
        runtime.block_on(measure_rate(setup, report))?;
        runtime.block_on(measure_latency(setup, report))?;
    }
    Ok(())
}

async fn open(directory: &TempDir) -> io::Result<(JournalStore, Vec<DurableJournal>)> {
    let store = JournalStore::open(directory.path().join("journal.db")).map_err(io::Error::other)?;
    let mut journals = Vec::new();
    for name in 0..JOURNALS {
        let journal = store.journal(&name.to_string(), Retention::UNLIMITED).await;
        journals.push(journal.map_err(io::Error::other)?);
    }
    Ok((store, journals))
}

fn event() -> FrameBuffer {
    FrameBuffer::one(vec![b'x'; EVENT_BYTES])
}

/// Measures the highest rate of appends to all journals at once, and the disk space that they take.
async fn measure_rate(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    let directory = TempDir::new_in(&setup.dir)?;
    let (store, journals) = open(&directory).await?;
    let each = setup.full_or_quick(2_000, 500);
    let written = proc::written_bytes(std::process::id());
    let started = Instant::now();
    let all = stream::iter(&journals).for_each_concurrent(None, |journal| async move {
        let appends = stream::iter(0..each).for_each_concurrent(AHEAD, |_| async move {
            // If the journal rejects an event, the count below is wrong and the measurement fails.
            let _ = journal.append(event()).await;
        });
        appends.await;
    });
    all.await;
    let took = started.elapsed();
    let total = (JOURNALS * each) as u64;
    let kept: u64 = journals.iter().map(|journal| journal.bounds().events).sum();
    if kept != total {
        return Err(io::Error::other(format!("{kept} of {total} events were kept")));
    }
    report.add("journal.rate", "ours", total as f64 / took.as_secs_f64());
    drop(journals);
    store.close();
    let raw = (total as usize * EVENT_BYTES) as f64;
    let file = fs::metadata(directory.path().join("journal.db"))?.len() as f64;
    report.add("journal.size", "ours", file / raw);
    let written = proc::written_bytes(std::process::id()).saturating_sub(written) as f64;
    report.add("journal.written", "ours", written / raw);
    Ok(())
}

/// Measures the time until an append is committed, at a steady rate.
///
/// The floor `thread` measures the same with a thread that only replies. Its figure is the cost of handing a request
/// to another thread and back, which the journal cannot avoid.
async fn measure_latency(setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
    // Flush the data of earlier measurements now. Otherwise the first commits would wait for it.
    rustix::fs::sync();
    let ticks = setup.full_or_quick(2_000, 500);
    let (requests, received) = mpsc::channel(REQUESTS_MAX);
    let replier = thread::spawn(|| reply_to_all(received));
    let replied = pace(ticks, |_| {
        let (reply, replied) = oneshot::channel();
        let sent = requests.try_send(reply);
        async move {
            sent.map_err(|_| thread_ended())?;
            replied.await.map_err(|_| thread_ended())
        }
    });
    report_latency(report, "thread", &replied.await?);
    drop(requests);
    replier.join().map_err(|_| thread_ended())?;
    let directory = TempDir::new_in(&setup.dir)?;
    let (store, journals) = open(&directory).await?;
    let committed = pace(ticks, |number| {
        let journal = journals[number % JOURNALS].clone();
        async move { journal.append(event()).await.map(drop).map_err(io::Error::other) }
    });
    report_latency(report, "ours", &committed.await?);
    drop(journals);
    store.close();
    Ok(())
}

/// Calls `start` at the steady rate, in batches of one millisecond. Returns the sorted times until each future
/// completed.
async fn pace<F>(ticks: usize, mut start: impl FnMut(usize) -> F) -> io::Result<Vec<Duration>>
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let each = (PACE / 1_000) as usize;
    let mut tick = tokio::time::interval(Duration::from_millis(1));
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..ticks * each {
        if number % each == 0 {
            tick.tick().await;
        }
        let started = Instant::now();
        let request = start(number);
        tasks.spawn(async move { request.await.map(|()| started.elapsed()) });
    }
    let mut times = Vec::new();
    while let Some(time) = tasks.join_next().await {
        times.push(time.map_err(io::Error::other)??);
    }
    times.sort_unstable();
    Ok(times)
}

/// The floor's thread: replies to each request at once.
fn reply_to_all(mut requests: mpsc::Receiver<oneshot::Sender<()>>) {
    while let Some(reply) = requests.blocking_recv() {
        // The receiver exists: `pace` waits for every reply.
        let _ = reply.send(());
    }
}

fn thread_ended() -> io::Error {
    io::Error::other("the thread of the floor has ended")
}

fn report_latency(report: &mut RunReport, system: &str, times: &[Duration]) {
    report.add("journal.p50", system, millis(times[times.len() / 2]));
    report.add("journal.p99", system, millis(times[times.len() * 99 / 100]));
}
