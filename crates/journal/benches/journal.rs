//! Throughput and latency of the journals: `cargo bench -p journal`. It prints figures and checks no limits.
#![allow(clippy::unwrap_used, reason = "a benchmark stops at the first error")]

use std::{
    num::NonZeroU64,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes};
use journal::{
    FrameBuffer, JournalItem, Retention, RingJournal, StartPosition,
    durable::{DurableJournal, JournalStore},
};
use tokio::{
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

const FRAME: &[u8] = &[b'x'; 200];

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    append_alone();
    for (readers, per_batch) in [(1, 1), (50, 1), (50, 300)] {
        runtime.block_on(ring(readers, per_batch));
    }
    runtime.block_on(sqlite_flood());
    runtime.block_on(sqlite_paced(10_000));
    runtime.block_on(sqlite_paced(50_000));
}

/// The processor time used so far: on a busy machine the figure to trust. Linux counts it in hundredths of a second.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    Duration::from_millis(fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

fn keep() -> Retention {
    Retention { events: NonZeroU64::new(4096).unwrap(), bytes: NonZeroU64::new(16 << 20).unwrap() }
}

/// The cost of an append without waiting readers.
fn append_alone() {
    const APPENDS: u32 = 2_000_000;
    let (mut writer, ring) = RingJournal::new(keep());
    let _idle = ring.reader(StartPosition::Newest).unwrap();
    let start = cpu();
    for _ in 0..APPENDS {
        let mut batch = writer.batch();
        batch.push(|_, out| out.put_slice(FRAME));
        batch.append();
    }
    println!("ring: append of one 200 B frame, no reader waiting: {:?} CPU", (cpu() - start) / APPENDS);
}

async fn ring(readers: usize, per_batch: usize) {
    const TIME: Duration = Duration::from_secs(2);
    let (mut writer, ring) = RingJournal::new(keep());
    let (got, gaps) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut tasks = JoinSet::new();
    for _ in 0..readers {
        let (mut reader, got, gaps) =
            (ring.reader(StartPosition::Oldest).unwrap(), Arc::clone(&got), Arc::clone(&gaps));
        tasks.spawn(async move {
            while let Some(item) = reader.next().await {
                match item {
                    JournalItem::Gap(_) => gaps.fetch_add(1, Ordering::Relaxed),
                    JournalItem::Frames(chunk) => {
                        std::hint::black_box(chunk.bytes());
                        got.fetch_add(chunk.len() as u64, Ordering::Relaxed)
                    }
                };
                tokio::task::coop::consume_budget().await;
            }
        });
    }
    let (start, cpu_start) = (Instant::now(), cpu());
    tasks.spawn(async move {
        while start.elapsed() < TIME {
            while writer.should_pause(Instant::now()) {
                tokio::task::yield_now().await;
            }
            let mut batch = writer.batch();
            for _ in 0..per_batch {
                batch.push(|_, out| out.put_slice(FRAME));
            }
            batch.append();
            tokio::task::coop::consume_budget().await;
        }
    });
    tasks.join_all().await;
    let each = (cpu() - cpu_start).as_nanos() as u64 / got.load(Ordering::Relaxed).max(1);
    let rate = got.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64() / 1e6;
    let gaps = gaps.load(Ordering::Relaxed);
    println!(
        "ring: {readers} readers, {per_batch} frames a batch: {rate:.1} M deliveries/s, {each} ns CPU each, {gaps} gaps"
    );
}

const JOURNALS: usize = 200;

async fn open(dir: &tempfile::TempDir) -> (JournalStore, Vec<DurableJournal>) {
    let store = JournalStore::open(dir.path().join("journal.db")).unwrap();
    let mut journals = Vec::new();
    for name in 0..JOURNALS {
        journals.push(store.journal(&name.to_string(), Retention::UNLIMITED).await.unwrap());
    }
    (store, journals)
}

fn frame() -> FrameBuffer {
    FrameBuffer::one(Bytes::from_static(&[b'x'; 300]))
}

/// Appends as fast as possible, from five tasks per journal.
async fn sqlite_flood() {
    const EACH: usize = 1000;
    let dir = tempfile::TempDir::new().unwrap();
    let (store, journals) = open(&dir).await;
    let (start, cpu_start) = (Instant::now(), cpu());
    let mut tasks = JoinSet::new();
    for journal in journals.iter().flat_map(|journal| [journal; 5]) {
        let journal = journal.clone();
        tasks.spawn(async move {
            for _ in 0..EACH {
                journal.append(frame()).await.unwrap();
            }
        });
    }
    let total = tasks.len() * EACH;
    tasks.join_all().await;
    let each = (cpu() - cpu_start) / total as u32;
    let rate = total as f64 / start.elapsed().as_secs_f64() / 1e3;
    let wal = std::fs::metadata(dir.path().join("journal.db-wal")).unwrap().len() >> 20;
    println!(
        "sqlite: {total} appends of 300 B to {JOURNALS} journals: {rate:.0} k/s, {each:?} CPU each, log {wal} MiB"
    );
    store.close();
}

/// Appends at a fixed rate and measures the time of each call.
async fn sqlite_paced(rate: usize) {
    const TIME: Duration = Duration::from_secs(5);
    let dir = tempfile::TempDir::new().unwrap();
    let (store, journals) = open(&dir).await;
    let per_tick = rate / 1000;
    let mut tick = interval(Duration::from_millis(1));
    tick.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (start, mut tasks, mut count) = (Instant::now(), JoinSet::new(), 0);
    while start.elapsed() < TIME {
        tick.tick().await;
        for _ in 0..per_tick {
            count += 1;
            let journal = journals[count * 7 % JOURNALS].clone();
            tasks.spawn(async move {
                let start = Instant::now();
                journal.append(frame()).await.unwrap();
                start.elapsed()
            });
        }
    }
    let mut took = tasks.join_all().await;
    took.sort_unstable();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    let wal = std::fs::metadata(dir.path().join("journal.db-wal")).unwrap().len() >> 20;
    let (p50, p99, most) = (at(0.5), at(0.99), at(1.0));
    println!(
        "sqlite: {rate}/s over {JOURNALS} journals: p50 {p50:?}, p99 {p99:?}, most {most:?}, log {wal} MiB"
    );
    store.close();
}
