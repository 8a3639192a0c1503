use std::{
    num::NonZeroU64,
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes};

use super::*;
use crate::{FrameBuffer, JournalItem};
use reader_slots::ReaderMove;

/// How the bytes of a ring are stored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StoredBytes {
    pub(super) plain: usize,
    /// The uncompressed size of the packed frames.
    pub(super) packed: usize,
    pub(super) compressed: usize,
}

fn ring(events: u64, bytes: u64) -> (RingWriter, RingJournal) {
    RingJournal::new(Retention {
        events: NonZeroU64::new(events).unwrap(),
        bytes: NonZeroU64::new(bytes).unwrap(),
    })
}

fn poll(reader: &mut RingReader) -> Poll<Option<JournalItem>> {
    reader.poll_next(&mut Context::from_waker(Waker::noop()))
}

fn chunk(reader: &mut RingReader) -> crate::FrameChunk {
    match poll(reader) {
        Poll::Ready(Some(JournalItem::Frames(chunk))) => chunk,
        other => panic!("no frames but {other:?}"),
    }
}

/// Frames are encoded once: every reader gets the same memory, whole or sliced.
#[test]
fn readers_share_the_memory_of_a_batch() {
    let (mut writer, ring) = ring(10, 1000);
    let mut all = ring.reader(StartPosition::Oldest).unwrap();
    writer.append(["one", "two"].into_iter().collect());
    let mut rest = ring.reader(StartPosition::Resume(Seq::new(1))).unwrap();
    let (all, rest) = (chunk(&mut all), chunk(&mut rest));
    assert_eq!((all.bytes(), rest.bytes()), ("onetwo".into(), "two".into()));
    assert_eq!(all.frame(1).as_ptr(), rest.bytes().as_ptr());
}

#[test]
fn a_frame_encoded_in_place_contains_its_own_number() {
    let (mut writer, ring) = ring(10, 1000);
    writer.append(FrameBuffer::one("x"));
    let mut batch = writer.batch();
    for _ in 0..2 {
        let next = batch.next_seq();
        assert_eq!(batch.push(|seq, out| out.put_slice(format!("id: {seq}\n").as_bytes())), next);
    }
    let appended = batch.append().unwrap();
    assert_eq!(appended.range(), Seq::new(2)..=Seq::new(3));
    let mut reader = ring.reader(StartPosition::Resume(Seq::new(1))).unwrap();
    let read = chunk(&mut reader);
    assert_eq!(read.bytes(), "id: 2\nid: 3\n");
    assert_eq!(read.bytes().as_ptr(), appended.bytes().as_ptr());
    assert!(writer.batch().append().is_none());
}

/// A batch that is not appended uses up neither bytes nor numbers.
#[test]
fn a_dropped_batch_leaves_no_trace() {
    let (mut writer, _ring) = ring(10, 1000);
    let mut batch = writer.batch();
    batch.push(|_, out| out.put_slice(b"lost"));
    drop(batch);
    let mut batch = writer.batch();
    batch.push(|_, out| out.put_slice(b"kept"));
    let chunk = batch.append().unwrap();
    assert_eq!((chunk.first(), chunk.bytes()), (Seq::new(1), Bytes::from("kept")));
}

/// Batches are adjacent in one segment; one that does not fit gets its own allocation.
#[test]
fn batches_share_segments() {
    let (mut writer, _ring) = ring(1000, u64::MAX);
    let mut encode = |size: usize| {
        let mut batch = writer.batch();
        batch.reserve(size);
        batch.push(|_, out| out.put_bytes(b'x', size));
        batch.append().unwrap().bytes()
    };
    let (first, second) = (encode(1000), encode(1000));
    assert_eq!(first.as_ptr().wrapping_add(1000), second.as_ptr());
    let large = encode(SEGMENT_BYTES + 1);
    assert_eq!(large.len(), SEGMENT_BYTES + 1);
    assert_eq!(encode(10).len(), 10);
}

/// acp-16: a line larger than the whole ring still reaches the readers that wait for it.
#[test]
fn the_newest_batch_is_retained_whatever_its_size() {
    let (mut writer, ring) = ring(10, 100);
    let mut reader = ring.reader(StartPosition::Newest).unwrap();
    writer.append(FrameBuffer::one("small"));
    writer.append(FrameBuffer::one(vec![0; 1000]));
    assert!(matches!(poll(&mut reader), Poll::Ready(Some(JournalItem::Gap(_)))));
    assert_eq!(chunk(&mut reader).bytes().len(), 1000);
    assert_eq!((ring.bounds().bytes, ring.bounds().oldest), (1000, Seq::new(2)));
}

/// Batches are evicted as a whole, but the limit in events is exact.
#[test]
fn a_batch_partly_beyond_the_limit_is_partly_readable() {
    let (mut writer, ring) = ring(3, 1000);
    writer.append(["1", "2", "3"].into_iter().collect());
    writer.append(["4", "5"].into_iter().collect());
    let bounds = ring.bounds();
    assert_eq!((bounds.oldest, bounds.newest, bounds.events), (Seq::new(3), Seq::new(5), 3));
    let mut reader = ring.reader(StartPosition::Oldest).unwrap();
    assert_eq!(chunk(&mut reader).bytes(), "3");
    assert_eq!(chunk(&mut reader).bytes(), "45");
}

/// acp-19: only a reader that took frames lately makes the writer pause, and only while it is more than half a ring behind.
#[test]
fn the_writer_pauses_for_an_active_reader_and_not_for_a_stalled_one() {
    let (mut writer, ring) = ring(10, 1000);
    let now = Instant::now;
    let mut reader = ring.reader(StartPosition::Newest).unwrap();
    (0..5).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    assert!(!writer.should_pause(now()), "half is not more than half");
    writer.append(FrameBuffer::one("x"));
    assert!(writer.should_pause(now()), "just opened, six of ten behind");
    assert!(!writer.should_pause(now() + KEEP_UP_WINDOW), "it took nothing for 250 ms");
    chunk(&mut reader);
    assert!(!writer.should_pause(now()), "five behind");
    writer.append(FrameBuffer::one(vec![0; 501]));
    assert!(writer.should_pause(now()), "more than half the bytes behind");
    drop(reader);
    assert!(!writer.should_pause(now()), "no reader left");
}

/// acp-19: a reader that waited had nothing to take, so its window starts with the append that it waited for.
#[test]
fn the_window_of_a_waiting_reader_starts_with_the_append() {
    let (mut writer, ring) = ring(2, 1000);
    let mut reader = ring.reader(StartPosition::Newest).unwrap();
    ring.shared.state.lock().slots.get_mut(reader.key).unwrap().moved_at -= 4 * KEEP_UP_WINDOW;
    assert!(poll(&mut reader).is_pending());
    (0..2).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    assert!(writer.should_pause(Instant::now()));
    assert!(!writer.should_pause(Instant::now() + KEEP_UP_WINDOW));
}

/// How long a writer pauses for its readers, polling every millisecond, while it appends a thousand frames.
fn pause_of(writer: &mut RingWriter) -> Duration {
    const TICK: Duration = Duration::from_millis(1);
    let (start, mut paused) = (Instant::now(), Duration::ZERO);
    for _ in 0..1000 {
        while writer.should_pause(start + paused) {
            paused += TICK;
            assert!(paused < 10 * KEEP_UP_WINDOW, "it pauses forever");
        }
        writer.append(FrameBuffer::one("x"));
    }
    // Subtract the real time that the appends took: it is not on the test's clock.
    paused.saturating_sub(start.elapsed())
}

/// Ten readers that took one frame each.
fn ten_readers(writer: &mut RingWriter, ring: &RingJournal) -> Vec<RingReader> {
    let mut readers = Vec::from_iter((0..10).map(|_| ring.reader(StartPosition::Newest).unwrap()));
    writer.append(FrameBuffer::one("x"));
    readers.iter_mut().for_each(|reader| drop(chunk(reader)));
    readers
}

/// acp-19: ten readers with proven clients that stall delay the writer by 250 ms in total, not each, and not repeatedly.
#[test]
fn readers_that_stall_together_delay_the_writer_once() {
    let (mut writer, ring) = ring(8, 1000);
    let readers = ten_readers(&mut writer, &ring);
    for reader in &readers {
        let mut state = ring.shared.state.lock();
        let taken_bytes = reader_slots::PROVEN_BYTES as usize;
        let step = ReaderMove { taken_bytes, position: Seq::new(1), read_bytes: 1, at: Instant::now() };
        state.slots.record_move(reader.key, &step);
    }
    let paused = pause_of(&mut writer);
    assert!(paused > KEEP_UP_WINDOW / 2 && paused <= KEEP_UP_WINDOW, "paused for {paused:?}");
}

/// acp-19: readers whose clients never read, with frames only in socket buffers, hardly delay the writer, whatever the other
/// readers do.
#[test]
fn readers_without_a_reading_client_hardly_delay_the_writer() {
    let (mut writer, ring) = ring(8, 1000);
    let _readers = ten_readers(&mut writer, &ring);
    let mut active = ring.reader(StartPosition::Newest).unwrap();
    (0..5).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    (0..5).for_each(|_| drop(chunk(&mut active)));
    let now = Instant::now();
    assert!(writer.should_pause(now + reader_slots::UNPROVEN_GRACE / 2));
    assert!(!writer.should_pause(now + reader_slots::UNPROVEN_GRACE), "no reader was active for long");
    writer.append(FrameBuffer::one("x"));
    chunk(&mut active);
    assert!(
        !writer.should_pause(now + reader_slots::UNPROVEN_GRACE / 2),
        "another reader was active, but not these"
    );
}

/// acp-19: the writer waits for an unproven reader while other readers are active, as it may not have had its turn.
#[test]
fn the_writer_waits_for_an_unproven_reader_while_others_are_active() {
    let (mut writer, ring) = ring(8, 1000);
    let readers = ten_readers(&mut writer, &ring);
    (0..6).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    let mut now = Instant::now();
    for reader in &readers[1..6] {
        now += reader_slots::UNPROVEN_GRACE / 2;
        assert!(writer.should_pause(now), "one was active, the others may be next");
        let step = ReaderMove { taken_bytes: 1, position: Seq::new(7), read_bytes: 7, at: now };
        ring.shared.state.lock().slots.record_move(reader.key, &step);
    }
    assert!(writer.should_pause(now));
    assert!(!writer.should_pause(now + reader_slots::UNPROVEN_GRACE), "but not forever");
}

/// acp-19: a reader that takes more after a pause has a client that reads; the writer waits for it from then on.
#[test]
fn a_slow_client_is_proven_by_its_pauses() {
    let (mut writer, ring) = ring(8, 1000);
    let mut reader = ten_readers(&mut writer, &ring).swap_remove(0);
    (0..7).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    ring.shared.state.lock().slots.get_mut(reader.key).unwrap().moved_at -= 2 * reader_slots::PROVEN_PAUSE;
    chunk(&mut reader);
    assert!(writer.should_pause(Instant::now() + KEEP_UP_WINDOW / 2));
}

/// Frames that hardly differ, as the messages of an agent do.
fn repetitive(writer: &mut RingWriter, batches: usize) {
    for _ in 0..batches {
        let mut batch = writer.batch();
        for _ in 0..100 {
            batch.push(|seq, out| out.put_slice(format!("id: {seq:0200}\n").as_bytes()));
        }
        batch.append();
    }
}

/// Packed frames take little memory and are read as before.
#[test]
fn packed_frames_are_read_unchanged() {
    let (mut writer, ring) = ring(1_000_000, 16 << 20);
    repetitive(&mut writer, 20);
    let mut middle = ring.reader(StartPosition::Resume(Seq::new(250))).unwrap();
    let before = ring.bounds();
    assert!(writer.can_pack());
    while writer.pack() {}
    assert!(!writer.can_pack());
    assert_eq!(ring.bounds(), before);
    let StoredBytes { plain, packed, compressed } = ring.shared.state.lock().storage();
    assert_eq!((plain + packed) as u64, before.bytes);
    assert!(plain < 64 * 1024 && compressed * 10 < packed, "{plain} and {packed} in {compressed}");
    let resumed = ring.reader(StartPosition::Resume(Seq::new(250))).unwrap();
    let read = ring.shared.state.lock().slots.get_mut(resumed.key).unwrap().read_bytes;
    assert_eq!(read, 250 * 205, "its position is within a block");
    let text = |chunk: crate::FrameChunk| String::from_utf8(chunk.bytes().to_vec()).unwrap();
    assert!(text(chunk(&mut middle)).starts_with(&format!("id: {:0200}\n", 251)));
    repetitive(&mut writer, 1);
    let mut all = ring.reader(StartPosition::Oldest).unwrap();
    let mut read = String::new();
    while let Poll::Ready(Some(JournalItem::Frames(chunk))) = poll(&mut all) {
        read += &text(chunk);
    }
    assert_eq!(read, Vec::from_iter((1..=2100).map(|seq| format!("id: {seq:0200}\n"))).concat());
}

/// Frames that do not compress, or are too large to be packed quickly, stay plain and are not considered again.
#[test]
fn incompressible_and_large_frames_stay_plain() {
    let (mut writer, ring) = ring(1_000_000, 64 << 20);
    let mut noise = 1u64;
    let random = Vec::from_iter((0..100_000).map(|_| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 56) as u8
    }));
    writer.append(FrameBuffer::one(random.clone()));
    writer.append(FrameBuffer::one(vec![b'x'; 2 << 20]));
    writer.append(FrameBuffer::one(random));
    while writer.pack() {}
    assert!(!writer.can_pack());
    assert_eq!(
        ring.shared.state.lock().storage(),
        StoredBytes { plain: 2_297_152, packed: 0, compressed: 0 }
    );
}

/// A block is evicted as a whole: in a small ring that would take unread frames from readers that keep up.
#[test]
fn a_small_ring_is_not_packed() {
    let (mut writer, _ring) = ring(1_000_000, 200_000);
    repetitive(&mut writer, 20);
    assert!(!writer.can_pack() && !writer.pack());
}

#[test]
fn dropping_a_reader_frees_its_slot() {
    let (_writer, ring) = ring(10, 1000);
    let (one, mut two) =
        (ring.reader(StartPosition::Oldest).unwrap(), ring.reader(StartPosition::Oldest).unwrap());
    assert!(poll(&mut two).is_pending());
    assert_eq!(ring.readers(), 2);
    drop((one, two));
    assert_eq!(ring.readers(), 0);
    assert!(!ring.shared.state.lock().slots.any_waiting());
    let _three = ring.reader(StartPosition::Oldest).unwrap();
    assert_eq!(ring.readers(), 1);
}

/// A task as wakers see it: it owns a reader, and is dropped with the last waker.
struct Task(Mutex<Option<RingReader>>);

impl std::task::Wake for Task {
    fn wake(self: Arc<Self>) {}
}

/// Polls `reader` with the only waker of a task; `owned` decides which reader the task owns.
fn wait_as_task(
    mut reader: RingReader,
    owned: impl FnOnce(RingReader) -> (Option<RingReader>, RingReader),
) -> Option<RingReader> {
    let task = Arc::new(Task(Mutex::new(None)));
    let waker = Waker::from(Arc::clone(&task));
    assert!(reader.poll_next(&mut Context::from_waker(&waker)).is_pending());
    let (left, owned) = owned(reader);
    *task.0.lock() = Some(owned);
    left
}

/// A waker may own the task that owns the reader: it must be dropped outside the lock, or the writer deadlocks.
#[test]
fn waking_a_task_that_ends_does_not_deadlock() {
    let (mut writer, ring) = ring(10, 1000);
    wait_as_task(ring.reader(StartPosition::Newest).unwrap(), |reader| (None, reader));
    writer.append(FrameBuffer::one("x"));
    assert_eq!(ring.readers(), 0);
}

/// The same when dropping a reader drops its waker, and with that another reader.
#[test]
fn dropping_a_reader_whose_task_owns_another_does_not_deadlock() {
    let (_writer, ring) = ring(10, 1000);
    let other = ring.reader(StartPosition::Newest).unwrap();
    let left = wait_as_task(ring.reader(StartPosition::Newest).unwrap(), |reader| (Some(reader), other));
    assert_eq!(ring.readers(), 2);
    drop(left);
    assert_eq!(ring.readers(), 0);
}

#[test]
fn dropping_the_writer_ends_the_stream() {
    let (mut writer, ring) = ring(10, 1000);
    writer.append(FrameBuffer::one("x"));
    let mut reader = ring.reader(StartPosition::Oldest).unwrap();
    drop(writer);
    ring.set_sealed(false);
    chunk(&mut reader);
    let next = pin!(reader.next());
    assert!(matches!(next.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
}

/// acp-18: resuming at an unknown id succeeds, and its first item is a gap that is true when it is read.
#[test]
fn resuming_at_an_evicted_frame_reports_the_gap_first() {
    let (mut writer, ring) = ring(2, 1000);
    (0..5).for_each(|_| _ = writer.append(FrameBuffer::one("x")));
    for requested in [0, 2, 100, u64::MAX] {
        let mut reader = ring.reader(StartPosition::Resume(Seq::new(requested))).unwrap();
        // Another frame is appended between opening and reading.
        writer.append(FrameBuffer::one("x"));
        let Poll::Ready(Some(JournalItem::Gap(gap))) = poll(&mut reader) else {
            panic!("no gap after {requested}")
        };
        assert_eq!(gap, ring.bounds().gap());
        assert_eq!(chunk(&mut reader).first(), gap.oldest);
    }
}
