//! The two backends, as the suite uses them.

use std::{fmt::Debug, future::Future, num::NonZeroU64, time::Duration};

use journal::{
    Append, Chunk, Follow, Frames, Gap, Item, Journal, Retention, Ring, Seq, Writer,
    durable::{Durable, Store},
};
use tempfile::TempDir;

/// What makes journals and survives their restart, or does not.
pub(crate) trait Backend: Sized + 'static {
    type Writer: Append;
    type Journal: Journal;
    /// Whether frames are there after a restart.
    const DURABLE: bool;

    fn start() -> Self;
    fn open(&mut self, retention: Retention) -> impl Future<Output = (Self::Writer, Self::Journal)>;
    /// As if the process had ended and started again.
    fn restart(&mut self);
    /// Does what is done while nothing is appended.
    fn rest(_writer: &mut Self::Writer) {}
}

pub(crate) struct Memory;

impl Backend for Memory {
    type Writer = Writer;
    type Journal = Ring;
    const DURABLE: bool = false;

    fn start() -> Memory {
        Memory
    }

    async fn open(&mut self, retention: Retention) -> (Writer, Ring) {
        Ring::new(retention)
    }

    fn restart(&mut self) {}

    fn rest(writer: &mut Writer) {
        while writer.pack() {}
    }
}

pub(crate) struct Sqlite {
    store: Option<Store>,
    dir: TempDir,
}

impl Backend for Sqlite {
    type Writer = Durable;
    type Journal = Durable;
    const DURABLE: bool = true;

    fn start() -> Sqlite {
        let mut sqlite = Sqlite { store: None, dir: TempDir::new().unwrap() };
        sqlite.restart();
        sqlite
    }

    async fn open(&mut self, retention: Retention) -> (Durable, Durable) {
        let durable = self.store.as_ref().unwrap().journal("one", retention).await.unwrap();
        (durable.clone(), durable)
    }

    fn restart(&mut self) {
        drop(self.store.take());
        self.store = Some(Store::open(self.dir.path().join("journal.db")).unwrap());
    }
}

/// Runs a test on a runtime of several threads; a test that hangs fails.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(60), test).await.expect("the test hangs")
    });
}

pub(crate) fn keep(events: u64, bytes: u64) -> Retention {
    Retention { events: NonZeroU64::new(events).unwrap(), bytes: NonZeroU64::new(bytes).unwrap() }
}

pub(crate) fn frames<T: AsRef<[u8]>>(frames: impl IntoIterator<Item = T>) -> Frames {
    frames.into_iter().collect()
}

/// The frame that tells its own number.
pub(crate) fn numbered(seq: u64) -> Vec<u8> {
    format!("frame {seq};").into_bytes()
}

/// Appends `count` numbered frames, each on its own.
pub(crate) async fn append_each(writer: &mut impl Append, journal: &impl Journal, count: u64) {
    for _ in 0..count {
        let next = journal.bounds().newest.get() + 1;
        writer.append(Frames::one(numbered(next))).await.unwrap();
    }
}

pub(crate) async fn frames_of(reader: &mut impl Follow) -> Chunk {
    match reader.next().await.unwrap() {
        Some(Item::Frames(chunk)) => chunk,
        other => panic!("frames expected, not {other:?}"),
    }
}

pub(crate) async fn gap_of(reader: &mut impl Follow) -> Gap {
    match reader.next().await.unwrap() {
        Some(Item::Gap(gap)) => gap,
        other => panic!("a gap expected, not {other:?}"),
    }
}

/// Reads up to and including `last`; every frame must follow the one before and be the right one.
pub(crate) async fn read_through(reader: &mut impl Follow, mut position: u64, last: u64) {
    while position < last {
        for (seq, frame) in frames_of(reader).await.frames() {
            position += 1;
            assert_eq!((seq, &frame[..]), (Seq::new(position), &numbered(position)[..]));
        }
    }
}

pub(crate) fn gap(oldest: u64, newest: u64) -> Gap {
    Gap { oldest: Seq::new(oldest), newest: Seq::new(newest) }
}

pub(crate) fn assert_ended(item: &Result<Option<Item>, impl Debug>) {
    assert!(matches!(item, Ok(None)), "the end expected, not {item:?}");
}
