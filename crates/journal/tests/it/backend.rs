//! The two backends behind one interface, so that the suite runs on both.

use std::{future::Future, num::NonZeroU64, ops::RangeInclusive, time::Duration};

use journal::{
    Cursor, Error, FrameBuffer, FrameChunk, Gap, JournalBounds, JournalItem, Retention, RingJournal,
    RingReader, RingWriter, Seq, StartPosition,
    durable::{self, DurableJournal, DurableReader, JournalStore},
};
use tempfile::TempDir;

/// Creates journals; the one on disk keeps them over a restart.
pub(crate) enum Backend {
    Memory,
    Sqlite { store: Option<JournalStore>, dir: TempDir },
}

impl Backend {
    pub(crate) fn sqlite() -> Backend {
        let mut sqlite = Backend::Sqlite { store: None, dir: TempDir::new().unwrap() };
        sqlite.restart();
        sqlite
    }

    /// Another backend of the same kind.
    pub(crate) fn another(&self) -> Backend {
        match self {
            Backend::Memory => Backend::Memory,
            Backend::Sqlite { .. } => Backend::sqlite(),
        }
    }

    /// Whether frames survive a restart.
    pub(crate) fn is_durable(&self) -> bool {
        matches!(self, Backend::Sqlite { .. })
    }

    pub(crate) async fn open(&mut self, retention: Retention) -> (AnyWriter, AnyJournal) {
        match self {
            Backend::Memory => {
                let (writer, ring) = RingJournal::new(retention);
                (AnyWriter::Ring(Box::new(writer)), AnyJournal::Ring(ring))
            }
            Backend::Sqlite { store, .. } => {
                let journal = store.as_ref().unwrap().journal("one", retention).await.unwrap();
                (AnyWriter::Durable(journal.clone()), AnyJournal::Durable(journal))
            }
        }
    }

    /// Acts as if the process had ended and started again.
    pub(crate) fn restart(&mut self) {
        if let Backend::Sqlite { store, dir } = self {
            drop(store.take());
            *store = Some(JournalStore::open(dir.path().join("journal.db")).unwrap());
        }
    }
}

pub(crate) enum AnyWriter {
    Ring(Box<RingWriter>),
    Durable(DurableJournal),
}

impl AnyWriter {
    pub(crate) async fn append(
        &mut self,
        frames: FrameBuffer,
    ) -> Result<RangeInclusive<Seq>, durable::Error> {
        match self {
            AnyWriter::Ring(writer) => Ok(writer.append(frames)),
            AnyWriter::Durable(journal) => journal.append(frames).await,
        }
    }

    pub(crate) fn seal(&mut self) {
        match self {
            AnyWriter::Ring(writer) => writer.seal(),
            AnyWriter::Durable(journal) => journal.seal(),
        }
    }

    pub(crate) fn unseal(&mut self) {
        match self {
            AnyWriter::Ring(writer) => writer.unseal(),
            AnyWriter::Durable(journal) => journal.unseal(),
        }
    }

    /// Does the work that is left for idle times.
    pub(crate) fn pack(&mut self) {
        if let AnyWriter::Ring(writer) = self {
            while writer.pack() {}
        }
    }
}

#[derive(Clone)]
pub(crate) enum AnyJournal {
    Ring(RingJournal),
    Durable(DurableJournal),
}

impl AnyJournal {
    pub(crate) fn bounds(&self) -> JournalBounds {
        match self {
            AnyJournal::Ring(ring) => ring.bounds(),
            AnyJournal::Durable(journal) => journal.bounds(),
        }
    }

    pub(crate) fn cursor(&self, seq: Seq) -> Cursor {
        match self {
            AnyJournal::Ring(ring) => ring.cursor(seq),
            AnyJournal::Durable(journal) => journal.cursor(seq),
        }
    }

    pub(crate) fn readers(&self) -> usize {
        match self {
            AnyJournal::Ring(ring) => ring.readers(),
            AnyJournal::Durable(journal) => journal.readers(),
        }
    }

    pub(crate) fn reader(&self, start: StartPosition) -> Result<AnyReader, Error> {
        Ok(match self {
            AnyJournal::Ring(ring) => AnyReader::Ring(ring.reader(start)?),
            AnyJournal::Durable(journal) => AnyReader::Durable(journal.reader(start)?),
        })
    }
}

pub(crate) enum AnyReader {
    Ring(RingReader),
    Durable(DurableReader),
}

impl AnyReader {
    pub(crate) async fn next(&mut self) -> Result<Option<JournalItem>, durable::Error> {
        match self {
            AnyReader::Ring(reader) => Ok(reader.next().await),
            AnyReader::Durable(reader) => reader.next().await,
        }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        match self {
            AnyReader::Ring(reader) => reader.cursor(),
            AnyReader::Durable(reader) => reader.cursor(),
        }
    }
}

impl From<DurableReader> for AnyReader {
    fn from(reader: DurableReader) -> AnyReader {
        AnyReader::Durable(reader)
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

pub(crate) fn frames<T: AsRef<[u8]>>(frames: impl IntoIterator<Item = T>) -> FrameBuffer {
    frames.into_iter().collect()
}

/// A frame that contains its own number.
pub(crate) fn numbered(seq: u64) -> Vec<u8> {
    format!("frame {seq};").into_bytes()
}

/// Appends `count` numbered frames, each on its own.
pub(crate) async fn append_each(writer: &mut AnyWriter, journal: &AnyJournal, count: u64) {
    for _ in 0..count {
        let next = journal.bounds().newest.get() + 1;
        writer.append(FrameBuffer::one(numbered(next))).await.unwrap();
    }
}

pub(crate) async fn frames_of(reader: &mut AnyReader) -> FrameChunk {
    match reader.next().await.unwrap() {
        Some(JournalItem::Frames(chunk)) => chunk,
        other => panic!("frames expected, not {other:?}"),
    }
}

pub(crate) async fn gap_of(reader: &mut AnyReader) -> Gap {
    match reader.next().await.unwrap() {
        Some(JournalItem::Gap(gap)) => gap,
        other => panic!("a gap expected, not {other:?}"),
    }
}

/// Reads up to and including `last`; every frame must follow the one before and be the right one.
pub(crate) async fn read_through(reader: &mut AnyReader, mut position: u64, last: u64) {
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

pub(crate) fn assert_ended(item: &Result<Option<JournalItem>, durable::Error>) {
    assert!(matches!(item, Ok(None)), "the end expected, not {item:?}");
}
