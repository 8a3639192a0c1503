//! The durable journal by itself: how many events it takes, how long each takes, and how much is written for them.

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
use crate::{Lab, Report, proc};

/// As many journals as there are sessions in the largest test of those.
const JOURNALS: usize = 200;

/// The size of an event.
const EVENT_BYTES: usize = 300;

/// How many appends of one journal are on their way at a time.
const AHEAD: usize = 8;

/// The rate at which the time of an append is measured.
const PACE: u64 = 10_000;

/// How many may wait for a thread that only answers: more than a stall of a second.
const ASKS_MAX: usize = 16 << 10;

pub(super) fn run(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    for _ in 0..lab.size(5, 2) {
        runtime.block_on(most(lab, report))?;
        runtime.block_on(paced(lab, report))?;
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

/// As many as it takes, of all journals at once.
async fn most(lab: &Lab, report: &mut Report) -> io::Result<()> {
    let directory = TempDir::new_in(&lab.dir)?;
    let (store, journals) = open(&directory).await?;
    let each = lab.size(2_000, 500);
    let written = proc::written_bytes(std::process::id());
    let started = Instant::now();
    let all = stream::iter(&journals).for_each_concurrent(None, |journal| async move {
        let appends = stream::iter(0..each).for_each_concurrent(AHEAD, |_| async move {
            // A journal that refuses an event makes the count below wrong, and with it the whole measure.
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

/// At a pace: how long each takes until it is committed, and how long to be handed to a thread that only answers.
async fn paced(lab: &Lab, report: &mut Report) -> io::Result<()> {
    // What was written before is not to be waited for here.
    rustix::fs::sync();
    let ticks = lab.size(2_000, 500);
    let (asks, asked) = mpsc::channel(ASKS_MAX);
    let idler = thread::spawn(|| answer(asked));
    let handed = pace(ticks, |_| {
        let (reply, answered) = oneshot::channel();
        let asked = asks.try_send(reply);
        async move {
            asked.map_err(|_| gone())?;
            answered.await.map_err(|_| gone())
        }
    });
    add(report, "thread", &handed.await?);
    drop(asks);
    idler.join().map_err(|_| gone())?;
    let directory = TempDir::new_in(&lab.dir)?;
    let (store, journals) = open(&directory).await?;
    let committed = pace(ticks, |number| {
        let journal = journals[number % JOURNALS].clone();
        async move { journal.append(event()).await.map(drop).map_err(io::Error::other) }
    });
    add(report, "ours", &committed.await?);
    drop(journals);
    store.close();
    Ok(())
}

/// Does something at the pace; how long each took, sorted.
async fn pace<F>(ticks: usize, mut ask: impl FnMut(usize) -> F) -> io::Result<Vec<Duration>>
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
        let asked = ask(number);
        tasks.spawn(async move { asked.await.map(|()| started.elapsed()) });
    }
    let mut times = Vec::new();
    while let Some(time) = tasks.join_next().await {
        times.push(time.map_err(io::Error::other)??);
    }
    times.sort_unstable();
    Ok(times)
}

fn answer(mut asked: mpsc::Receiver<oneshot::Sender<()>>) {
    while let Some(reply) = asked.blocking_recv() {
        // Whoever asked waits for it.
        let _ = reply.send(());
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread is gone")
}

fn add(report: &mut Report, subject: &str, times: &[Duration]) {
    report.add("journal.p50", subject, millis(times[times.len() / 2]));
    report.add("journal.p99", subject, millis(times[times.len() * 99 / 100]));
}
