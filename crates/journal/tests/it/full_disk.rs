//! A store on a full disk.

use std::time::{Duration, Instant};

use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, ErrorCause, JournalStore},
};
use testkit::{TmpfsMount, fill_disk, free_disk};

const DISK_BYTES: usize = 24 << 20;

/// The number of appends that must succeed on a full disk: as many entries as an administrator causes who revokes everything.
const APPENDS: usize = 600;

const FRAME_BYTES: usize = 700;

async fn count(journal: &DurableJournal) -> usize {
    let mut reader = journal.reader(StartPosition::Resume(Seq::ZERO)).unwrap();
    let mut count = 0;
    while (count as u64) < journal.bounds().newest.get() {
        match reader.next().await.unwrap() {
            Some(JournalItem::Frames(chunk)) => count += chunk.frames().count(),
            other => panic!("{other:?}"),
        }
    }
    count
}

async fn has_its_reserve(store: &JournalStore) {
    let since = Instant::now();
    while store.is_low() {
        assert!(since.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The disk is filled again and again while the store is written, so that the log and the last checkpoint are in any state.
#[tokio::test(flavor = "multi_thread")]
async fn appends_succeed_on_a_full_disk_from_the_reserve() {
    let home = tempfile::tempdir().unwrap();
    let disk = home.path();
    let Some(_mounted) = TmpfsMount::new(disk, DISK_BYTES) else {
        eprintln!(
            "SKIPPED: appends_succeed_on_a_full_disk_from_the_reserve needs the right to mount a tmpfs"
        );
        return;
    };
    let path = disk.join("journal.db");
    let store = JournalStore::open(&path).unwrap();
    let journal = store.journal("one", Retention::UNLIMITED).await.unwrap();
    let frame = || FrameBuffer::one(vec![b'x'; FRAME_BYTES]);
    let mut appended = 0;
    for round in 0..4 {
        assert!(!store.is_low(), "round {round}");
        for _ in 0..round * 150 + 10 {
            journal.append(frame()).await.unwrap();
            appended += 1;
        }
        fill_disk(disk);
        let mut slowest = Duration::ZERO;
        for number in 0..APPENDS {
            let since = Instant::now();
            let done = journal.append(frame()).await;
            done.unwrap_or_else(|error| panic!("round {round}, append {number}: {error:?}"));
            slowest = slowest.max(since.elapsed());
            appended += 1;
        }
        assert!(store.is_low());
        let other = format!("other-{round}");
        store.journal(&other, Retention::UNLIMITED).await.unwrap();
        assert!(store.delete(&other).await.unwrap());
        eprintln!("round {round}: slowest append {slowest:?}");
        assert!(slowest < Duration::from_secs(5));
        free_disk(disk);
        has_its_reserve(&store).await;
    }
    assert_eq!(count(&journal).await, appended);

    // What does not fit is refused as a whole, and loses nothing.
    fill_disk(disk);
    let mut refused = None;
    while refused.is_none() {
        refused = journal.append(FrameBuffer::one(vec![b'x'; 100_000])).await.err();
        appended += usize::from(refused.is_none());
    }
    assert_eq!(refused.unwrap().cause(), ErrorCause::Full);
    free_disk(disk);
    has_its_reserve(&store).await;
    journal.append(frame()).await.unwrap();
    drop(journal);
    store.close();
    let store = JournalStore::open(&path).unwrap();
    let journal = store.journal("one", Retention::UNLIMITED).await.unwrap();
    assert_eq!(count(&journal).await, appended + 1);
}

/// A start on a full disk works or says why it does not, and with space it works.
#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_opened_on_a_full_disk_is_low_or_says_why() {
    let home = tempfile::tempdir().unwrap();
    let disk = home.path();
    let Some(_mounted) = TmpfsMount::new(disk, DISK_BYTES) else {
        eprintln!(
            "SKIPPED: a_store_that_is_opened_on_a_full_disk_is_low_or_says_why needs the right to mount a tmpfs"
        );
        return;
    };
    let path = disk.join("journal.db");
    drop(JournalStore::open(&path).unwrap());
    fill_disk(disk);
    match JournalStore::open(&path) {
        Ok(store) => assert!(store.is_low()),
        Err(error) => assert_eq!(error.cause(), ErrorCause::Full, "{error:?}"),
    }
    free_disk(disk);
    assert!(!JournalStore::open(&path).unwrap().is_low());
}
