//! The promises that every backend keeps.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use journal::{Error, FrameBuffer, JournalItem, Retention, Seq, StartPosition};
use tokio::task::JoinSet;

use crate::backend::*;

macro_rules! both {
    ($($name:ident)*) => {
        mod memory { $(#[test] fn $name() { crate::backend::run(super::$name(crate::backend::Backend::Memory)) })* }
        mod sqlite { $(#[test] fn $name() { crate::backend::run(super::$name(crate::backend::Backend::sqlite())) })* }
    };
}

both! {
    a_reader_loses_and_repeats_nothing_between_replay_and_tail
    a_waiting_reader_gets_the_next_append
    appends_are_numbered_from_one
    a_foreign_cursor_is_unknown
    an_expired_cursor_reports_the_available_frames
    resuming_a_bare_number_reports_the_gap_and_continues
    the_number_of_events_is_bounded
    the_number_of_bytes_is_bounded
    a_slow_reader_gets_one_gap_and_continues
    readers_of_a_sealed_journal_end
    dropping_a_reader_lowers_the_reader_count
}

/// acp-17: readers that reconnect a thousand times under continuous output lose, repeat and reorder nothing.
async fn a_reader_loses_and_repeats_nothing_between_replay_and_tail(mut backend: Backend) {
    const RECONNECTS: usize = 1000;
    let (mut writer, journal) = backend.open(Retention::UNLIMITED).await;
    let reconnects = Arc::new(AtomicUsize::new(0));
    let mut readers = JoinSet::new();
    for _ in 0..10 {
        readers.spawn(reconnect_until_the_end(journal.clone(), Arc::clone(&reconnects)));
    }
    let mut next = 1;
    while reconnects.load(Ordering::Relaxed) < RECONNECTS {
        let end = next + next % 4;
        writer.append(frames((next..=end).map(numbered))).await.unwrap();
        next = end + 1;
        tokio::task::yield_now().await;
    }
    writer.seal();
    assert_eq!(readers.join_all().await, [next - 1; 10]);
}

/// Repeatedly reads one to three chunks and reopens the reader at its cursor; returns the last number.
async fn reconnect_until_the_end(journal: AnyJournal, reconnects: Arc<AtomicUsize>) -> u64 {
    let mut cursor = journal.cursor(Seq::ZERO);
    loop {
        let mut reader = journal.reader(StartPosition::After(cursor)).unwrap();
        for _ in 0..=reconnects.fetch_add(1, Ordering::Relaxed) % 3 {
            let chunk = match reader.next().await.unwrap() {
                None => return cursor.seq.get(),
                Some(JournalItem::Gap(gap)) => panic!("{gap}"),
                Some(JournalItem::Frames(chunk)) => chunk,
            };
            assert_eq!(chunk.first(), cursor.seq.next());
            chunk.frames().for_each(|(seq, frame)| assert_eq!(frame, numbered(seq.get())));
            cursor = reader.cursor();
            assert_eq!(cursor.seq, chunk.last());
        }
    }
}

async fn a_waiting_reader_gets_the_next_append(mut backend: Backend) {
    let (mut writer, journal) = backend.open(Retention::UNLIMITED).await;
    let mut reader = journal.reader(StartPosition::Newest).unwrap();
    let (chunk, appended) = tokio::join!(frames_of(&mut reader), writer.append(frames(["a", "b"])));
    assert_eq!((chunk.range(), chunk.bytes()), (appended.unwrap(), "ab".into()));
}

async fn appends_are_numbered_from_one(mut backend: Backend) {
    let (mut writer, journal) = backend.open(Retention::UNLIMITED).await;
    assert_eq!(journal.bounds().gap(), gap(1, 0));
    assert_eq!(writer.append(frames(["a", "b"])).await.unwrap(), Seq::new(1)..=Seq::new(2));
    assert!(writer.append(FrameBuffer::default()).await.unwrap().is_empty());
    assert_eq!(writer.append(frames([""])).await.unwrap(), Seq::new(3)..=Seq::new(3));
    let bounds = journal.bounds();
    assert_eq!((bounds.gap(), bounds.events, bounds.bytes), (gap(1, 3), 3, 2));
}

async fn a_foreign_cursor_is_unknown(mut backend: Backend) {
    let (mut writer, journal) = backend.open(Retention::UNLIMITED).await;
    let (_other_writer, other) = backend.another().open(Retention::UNLIMITED).await;
    append_each(&mut writer, &journal, 3).await;
    let unknown = Some(Error::Unknown { bounds: journal.bounds() });
    assert_eq!(journal.reader(StartPosition::After(other.cursor(Seq::ZERO))).err(), unknown);
    assert_eq!(
        journal.reader(StartPosition::After(journal.cursor(Seq::new(4)))).err(),
        unknown,
        "of the future"
    );
    assert_eq!(journal.reader(StartPosition::After(journal.cursor(Seq::new(u64::MAX)))).err(), unknown);
    assert!(journal.reader(StartPosition::After(journal.cursor(Seq::new(3)))).is_ok());
}

async fn an_expired_cursor_reports_the_available_frames(mut backend: Backend) {
    let (mut writer, journal) = backend.open(keep(10, 1000)).await;
    append_each(&mut writer, &journal, 25).await;
    let expired = Error::Expired(gap(16, 25));
    assert_eq!(journal.reader(StartPosition::After(journal.cursor(Seq::new(14)))).err(), Some(expired));
    let mut reader = journal.reader(StartPosition::After(journal.cursor(Seq::new(15)))).unwrap();
    read_through(&mut reader, 15, 25).await;
}

/// acp-18: the first item is the gap, then the oldest frame follows; from the past as from the future.
async fn resuming_a_bare_number_reports_the_gap_and_continues(mut backend: Backend) {
    let (mut writer, journal) = backend.open(keep(10, 1000)).await;
    append_each(&mut writer, &journal, 25).await;
    for requested in [0, 14, 26, u64::MAX] {
        let mut reader = journal.reader(StartPosition::Resume(Seq::new(requested))).unwrap();
        assert_eq!(gap_of(&mut reader).await, gap(16, 25), "after {requested}");
        read_through(&mut reader, 15, 25).await;
    }
    let mut reader = journal.reader(StartPosition::Resume(Seq::new(15))).unwrap();
    read_through(&mut reader, 15, 25).await;
}

/// acp-16
async fn the_number_of_events_is_bounded(mut backend: Backend) {
    let (mut writer, journal) = backend.open(keep(7, 1_000_000)).await;
    for round in 1..=300 {
        writer.append(frames((round * 2 - 1..=round * 2).map(numbered))).await.unwrap();
        let bounds = journal.bounds();
        assert_eq!((bounds.newest.get(), bounds.events), (round * 2, (round * 2).min(7)));
    }
    let mut reader = journal.reader(StartPosition::Oldest).unwrap();
    read_through(&mut reader, 593, 600).await;
}

/// acp-16
async fn the_number_of_bytes_is_bounded(mut backend: Backend) {
    let (mut writer, journal) = backend.open(keep(1000, 55)).await;
    for _ in 0..300 {
        writer.append(FrameBuffer::one("ten bytes.")).await.unwrap();
        assert!(journal.bounds().bytes <= 55);
    }
    assert_eq!((journal.bounds().events, journal.bounds().gap()), (5, gap(296, 300)));
    writer.append(FrameBuffer::one(vec![b'x'; 100])).await.unwrap();
    assert_eq!(
        (journal.bounds().bytes, journal.bounds().gap()),
        (100, gap(301, 301)),
        "the newest append is retained"
    );
    writer.append(FrameBuffer::one("x")).await.unwrap();
    assert_eq!((journal.bounds().bytes, journal.bounds().gap()), (1, gap(302, 302)));
}

/// acp-18: the reader is never skipped ahead silently and gets the gap once.
async fn a_slow_reader_gets_one_gap_and_continues(mut backend: Backend) {
    let (mut writer, journal) = backend.open(keep(10, 1000)).await;
    let mut reader = journal.reader(StartPosition::Oldest).unwrap();
    append_each(&mut writer, &journal, 2).await;
    read_through(&mut reader, 0, 2).await;
    append_each(&mut writer, &journal, 28).await;
    assert_eq!(gap_of(&mut reader).await, gap(21, 30));
    read_through(&mut reader, 20, 30).await;
    append_each(&mut writer, &journal, 10).await;
    read_through(&mut reader, 30, 40).await;
}

async fn readers_of_a_sealed_journal_end(mut backend: Backend) {
    let (mut writer, journal) = backend.open(Retention::UNLIMITED).await;
    append_each(&mut writer, &journal, 2).await;
    let mut reader = journal.reader(StartPosition::Oldest).unwrap();
    let mut waiting = journal.reader(StartPosition::Newest).unwrap();
    let (end, ()) = tokio::join!(waiting.next(), async { writer.seal() });
    assert_ended(&end);
    read_through(&mut reader, 0, 2).await;
    assert_ended(&reader.next().await);
    writer.unseal();
    append_each(&mut writer, &journal, 1).await;
    read_through(&mut reader, 2, 3).await;
}

async fn dropping_a_reader_lowers_the_reader_count(mut backend: Backend) {
    let (_writer, journal) = backend.open(Retention::UNLIMITED).await;
    let readers = (0..3).map(|_| journal.reader(StartPosition::Oldest).unwrap()).collect::<Vec<_>>();
    assert_eq!(journal.readers(), 3);
    drop(readers);
    assert_eq!(journal.readers(), 0);
}
