//! Behaviour that only journals on disk have.

use std::{
    path::PathBuf,
    pin::pin,
    task::{Context, Poll, Waker},
};

use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, Error, JournalMetrics, JournalStore, QUEUE_MAX, SyncMode},
};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::{JoinSet, unconstrained};

use crate::backend::*;

pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home { dir: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("journal.db")
    }

    pub(crate) fn open(&self) -> JournalStore {
        JournalStore::open(self.path()).unwrap()
    }

    fn rows(&self) -> u64 {
        let conn = Connection::open(self.path()).unwrap();
        conn.query_row("SELECT count(*) FROM events", [], |row| row.get::<_, i64>(0)).unwrap() as u64
    }
}

/// Appends `count` numbered frames, each on its own.
async fn append_numbered(journal: &DurableJournal, count: u64) {
    let mut writer = AnyWriter::Durable(journal.clone());
    append_each(&mut writer, &AnyJournal::Durable(journal.clone()), count).await;
}

async fn journal(store: &JournalStore) -> DurableJournal {
    store.journal("one", Retention::UNLIMITED).await.unwrap()
}

#[test]
fn a_journal_keeps_its_epoch_and_frames() {
    run(async {
        let home = Home::new();
        let store = JournalStore::open_with(home.path(), SyncMode::Full, JournalMetrics::default()).unwrap();
        let mut one = journal(&store).await;
        append_numbered(&one, 5).await;
        let (cursor, bounds) = (one.cursor(Seq::new(2)), one.bounds());
        store.close();
        let store = home.open();
        one = journal(&store).await;
        assert_eq!(one.bounds(), bounds);
        read_through(&mut one.reader(StartPosition::After(cursor)).unwrap().into(), 2, 5).await;
    });
}

/// More than the tail holds: the older part comes from the file, in pages, and joins the tail without a seam.
#[test]
fn older_frames_come_from_the_file() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = journal(&store).await;
        const FRAMES: u64 = 40;
        let frame = |seq: u64| FrameBuffer::one(vec![seq as u8; 100_000]);
        for seq in 1..=FRAMES {
            one.append(frame(seq)).await.unwrap();
        }
        let mut reader = AnyReader::from(one.reader(StartPosition::Oldest).unwrap());
        let mut position = 0;
        while position < FRAMES + 1 {
            for (seq, bytes) in frames_of(&mut reader).await.frames() {
                position += 1;
                assert_eq!((seq.get(), bytes), (position, frame(position).frame(0)));
            }
            if position == FRAMES {
                one.append(frame(FRAMES + 1)).await.unwrap();
            }
        }
    });
}

/// The size of all frames after a given one is known without reading them: also for rows that are not indexed yet, and for
/// rows from before the file was opened.
#[test]
fn bytes_after_counts_indexed_and_unindexed_rows() {
    run(async {
        let home = Home::new();
        let mut store = home.open();
        let mut one = journal(&store).await;
        let other = store.journal("other", Retention::UNLIMITED).await.unwrap();
        assert_eq!(one.bytes_after(Seq::ZERO).await.unwrap(), 0);
        // These are indexed at once, because they are large; the small ones after them are not.
        for _ in 0..10 {
            one.append(FrameBuffer::one(vec![0; 100_000])).await.unwrap();
            other.append(FrameBuffer::one(vec![0; 7])).await.unwrap();
        }
        one.append(frames([[0; 10]; 3])).await.unwrap();
        for _ in 0..2 {
            for seq in 0..=10 {
                let bytes = one.bytes_after(Seq::new(seq)).await.unwrap();
                assert_eq!(bytes, (10 - seq) * 100_000 + 30);
            }
            assert!(one.bytes_after(Seq::new(12)).await.unwrap() <= 30);
            store.close();
            store = home.open();
            one = journal(&store).await;
        }
        assert_eq!(one.bytes_after(Seq::new(12)).await.unwrap(), 10);
    });
}

/// A read that is cancelled while its page is loaded loses nothing.
#[test]
fn reading_is_cancel_safe() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = journal(&store).await;
        append_numbered(&one, 3000).await;
        store.close();
        let store = home.open();
        let one = journal(&store).await;
        let mut reader = one.reader(StartPosition::Oldest).unwrap();
        let (mut position, mut cancelled) = (0, 0);
        while position < 3000 {
            let polled = pin!(reader.next()).poll(&mut Context::from_waker(Waker::noop()));
            let item = match polled {
                Poll::Ready(item) => item,
                Poll::Pending => {
                    cancelled += 1;
                    reader.next().await
                }
            };
            let Ok(Some(JournalItem::Frames(chunk))) = item else { panic!("frames expected, not {item:?}") };
            assert_eq!(chunk.first().get(), position + 1);
            position = chunk.last().get();
        }
        assert!(cancelled >= 2, "the older frames came without waiting");
    });
}

/// With more concurrent appends than the queue holds, each still gets its own number.
#[test]
fn appenders_wait_when_the_queue_is_full() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = journal(&store).await;
        let mut appenders = JoinSet::new();
        let count = QUEUE_MAX as u64 * 2;
        for n in 0..count {
            let one = one.clone();
            appenders.spawn(async move { (one.append(FrameBuffer::one(format!("{n}"))).await.unwrap(), n) });
        }
        let mut answers = appenders.join_all().await;
        answers.sort_by_key(|(range, _)| *range.start());
        one.seal();
        let mut reader = one.reader(StartPosition::Oldest).unwrap();
        let mut stored = Vec::new();
        while let Some(JournalItem::Frames(chunk)) = reader.next().await.unwrap() {
            stored.extend(chunk.frames());
        }
        assert_eq!(stored.len() as u64, count);
        for ((range, n), (seq, frame)) in answers.iter().zip(&stored) {
            assert_eq!((range.start(), n.to_string().as_bytes()), (seq, &frame[..]));
        }
    });
}

/// Closing processes the queued requests, but does not wait for appenders on the very thread that closes.
#[test]
fn closing_does_not_wait_for_appenders_outside_the_queue() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let home = Home::new();
        let store = home.open();
        let one = journal(&store).await;
        let blocker = Connection::open(home.path()).unwrap();
        blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Each is polled once: some are queued, the others wait for a place, and none is polled while the store closes.
        let mut appends = Vec::from_iter((0..QUEUE_MAX * 3).map(|_| {
            let one = one.clone();
            Box::pin(unconstrained(async move { one.append(FrameBuffer::one("x")).await }))
        }));
        for append in &mut appends {
            assert!(append.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(blocker);
        store.close();
        let (mut kept, mut refused) = (0, 0);
        for append in appends {
            let answer = append.await;
            match answer {
                Ok(_) => kept += 1,
                Err(Error::Closed) => refused += 1,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert!(kept >= QUEUE_MAX && refused > 0, "{kept} kept, {refused} refused");
        assert_eq!(home.rows(), kept as u64, "the file holds exactly the acknowledged frames");
        assert!(matches!(one.append(FrameBuffer::one("x")).await, Err(Error::Closed)));
        assert_ended(&one.reader(StartPosition::Newest).unwrap().next().await);
    });
}

/// Expired rows are removed soon.
#[test]
fn expired_rows_leave_the_file() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = store.journal("one", keep(100, 1_000_000)).await.unwrap();
        append_numbered(&one, 3000).await;
        assert_eq!(one.bounds().events, 100);
        assert!(home.rows() < 100 + 300, "{} rows", home.rows());
        store.close();
        let store = home.open();
        let one = store.journal("one", keep(10, 1_000_000)).await.unwrap();
        assert_eq!(one.bounds().gap(), gap(2991, 3000), "a smaller retention holds from the start");
        read_through(&mut one.reader(StartPosition::Oldest).unwrap().into(), 2990, 3000).await;
    });
}

/// Its readers end, its rows are removed, and the next journal of that name is a new one.
#[test]
fn deleting_a_journal_ends_its_readers_and_removes_its_rows() {
    run(async {
        let home = Home::new();
        let store = home.open();
        let one = journal(&store).await;
        append_numbered(&one, 3000).await;
        let mut reader = one.reader(StartPosition::Newest).unwrap();
        let cursor = reader.cursor();
        let (end, deleted) = tokio::join!(reader.next(), store.delete("one"));
        assert!(deleted.unwrap());
        assert_ended(&end);
        assert!(matches!(one.append(FrameBuffer::one("x")).await, Err(Error::Deleted)));
        assert!(!store.delete("one").await.unwrap());
        let again = journal(&store).await;
        assert_eq!(again.bounds().gap(), gap(1, 0));
        assert!(matches!(again.reader(StartPosition::After(cursor)), Err(journal::Error::Unknown { .. })));
        // Each answered request is followed by one removal, so this is a bounded wait on a fact.
        for _ in 0..10 {
            store.delete("none").await.unwrap();
        }
        assert_eq!(home.rows(), 0);
    });
}

/// A reader that still loads older frames of a deleted journal gets an error, not an end.
#[test]
fn a_reader_behind_in_a_deleted_journal_gets_an_error() {
    run(async {
        let home = Home::new();
        home.open().close();
        let store = home.open();
        let one = journal(&store).await;
        for _ in 0..20 {
            one.append(FrameBuffer::one(vec![0; 200_000])).await.unwrap();
        }
        let mut reader = AnyReader::from(one.reader(StartPosition::Oldest).unwrap());
        frames_of(&mut reader).await;
        store.delete("one").await.unwrap();
        for _ in 0..10 {
            store.delete("none").await.unwrap();
        }
        let result = loop {
            match reader.next().await {
                Ok(Some(_)) => {}
                other => break other,
            }
        };
        assert!(matches!(result, Err(Error::Deleted)), "{result:?}");
    });
}
