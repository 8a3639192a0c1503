use std::{
    num::NonZeroU64,
    pin::pin,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use bytes::{BufMut, Bytes};

use super::*;
use crate::{Frames, Item};

fn ring(events: u64, bytes: u64) -> (Writer, Ring) {
    Ring::new(Retention { events: NonZeroU64::new(events).unwrap(), bytes: NonZeroU64::new(bytes).unwrap() })
}

fn poll(reader: &mut Reader) -> Poll<Option<Item>> {
    reader.poll_next(&mut Context::from_waker(Waker::noop()))
}

fn chunk(reader: &mut Reader) -> crate::Chunk {
    match poll(reader) {
        Poll::Ready(Some(Item::Frames(chunk))) => chunk,
        other => panic!("no frames but {other:?}"),
    }
}

/// Encode once: every reader gets the very same memory, whole or sliced.
#[test]
fn readers_share_the_memory_of_a_batch() {
    let (mut writer, ring) = ring(10, 1000);
    let mut all = ring.reader(Start::Oldest).unwrap();
    writer.append(["one", "two"].into_iter().collect());
    let mut rest = ring.reader(Start::Resume(Seq::new(1))).unwrap();
    let (all, rest) = (chunk(&mut all), chunk(&mut rest));
    assert_eq!((all.bytes(), rest.bytes()), ("onetwo".into(), "two".into()));
    assert_eq!(all.frame(1).as_ptr(), rest.bytes().as_ptr());
}

#[test]
fn a_rendered_frame_contains_the_number_it_gets() {
    let (mut writer, ring) = ring(10, 1000);
    writer.append(Frames::one("x"));
    let mut batch = writer.batch();
    for _ in 0..2 {
        let next = batch.next_seq();
        assert_eq!(batch.push(|seq, out| out.put_slice(format!("id: {seq}\n").as_bytes())), next);
    }
    let appended = batch.append().unwrap();
    assert_eq!(appended.range(), Seq::new(2)..=Seq::new(3));
    let mut reader = ring.reader(Start::Resume(Seq::new(1))).unwrap();
    let read = chunk(&mut reader);
    assert_eq!(read.bytes(), "id: 2\nid: 3\n");
    assert_eq!(read.bytes().as_ptr(), appended.bytes().as_ptr());
    assert!(writer.batch().append().is_none());
}

/// A batch that is not appended leaves nothing behind, neither bytes nor numbers.
#[test]
fn a_dropped_batch_is_as_if_it_never_was() {
    let (mut writer, _ring) = ring(10, 1000);
    let mut batch = writer.batch();
    batch.push(|_, out| out.put_slice(b"lost"));
    drop(batch);
    let mut batch = writer.batch();
    batch.push(|_, out| out.put_slice(b"kept"));
    let chunk = batch.append().unwrap();
    assert_eq!((chunk.first(), chunk.bytes()), (Seq::new(1), Bytes::from("kept")));
}

/// Batches lie side by side in one segment; one that does not fit gets memory of its own.
#[test]
fn batches_share_segments() {
    let (mut writer, _ring) = ring(1000, u64::MAX);
    let mut render = |size: usize| {
        let mut batch = writer.batch();
        batch.reserve(size);
        batch.push(|_, out| out.put_bytes(b'x', size));
        batch.append().unwrap().bytes()
    };
    let (first, second) = (render(1000), render(1000));
    assert_eq!(first.as_ptr().wrapping_add(1000), second.as_ptr());
    let large = render(SEGMENT_BYTES + 1);
    assert_eq!(large.len(), SEGMENT_BYTES + 1);
    assert_eq!(render(10).len(), 10);
}

/// acp-16: a line larger than the whole ring still reaches who waits for it.
#[test]
fn the_last_batch_is_kept_whatever_its_size() {
    let (mut writer, ring) = ring(10, 100);
    let mut reader = ring.reader(Start::Newest).unwrap();
    writer.append(Frames::one("small"));
    writer.append(Frames::one(vec![0; 1000]));
    assert!(matches!(poll(&mut reader), Poll::Ready(Some(Item::Gap(_)))));
    assert_eq!(chunk(&mut reader).bytes().len(), 1000);
    assert_eq!((ring.bounds().bytes, ring.bounds().oldest), (1000, Seq::new(2)));
}

/// Batches are dropped as a whole, but the limit in events is exact.
#[test]
fn a_batch_half_out_is_half_readable() {
    let (mut writer, ring) = ring(3, 1000);
    writer.append(["1", "2", "3"].into_iter().collect());
    writer.append(["4", "5"].into_iter().collect());
    let bounds = ring.bounds();
    assert_eq!((bounds.oldest, bounds.newest, bounds.events), (Seq::new(3), Seq::new(5), 3));
    let mut reader = ring.reader(Start::Oldest).unwrap();
    assert_eq!(chunk(&mut reader).bytes(), "3");
    assert_eq!(chunk(&mut reader).bytes(), "45");
}

/// acp-19: only a reader that moved lately holds the writer, and only while it is more than half a ring behind.
#[test]
fn a_moving_reader_presses_and_a_stalled_one_does_not() {
    let (mut writer, ring) = ring(10, 1000);
    let now = Instant::now;
    let mut reader = ring.reader(Start::Newest).unwrap();
    (0..5).for_each(|_| _ = writer.append(Frames::one("x")));
    assert!(!writer.pressed(now()), "half is not more than half");
    writer.append(Frames::one("x"));
    assert!(writer.pressed(now()), "just opened, six of ten behind");
    assert!(!writer.pressed(now() + MOVING), "it did not move for 250 ms");
    chunk(&mut reader);
    assert!(!writer.pressed(now()), "five behind");
    writer.append(Frames::one(vec![0; 501]));
    assert!(writer.pressed(now()), "more than half the bytes behind");
    drop(reader);
    assert!(!writer.pressed(now()), "nobody there");
}

/// acp-19: a reader that waited had nothing to take, so its time starts with the append that it waited for.
#[test]
fn a_reader_that_waited_for_long_counts_as_moving() {
    let (mut writer, ring) = ring(2, 1000);
    let mut reader = ring.reader(Start::Newest).unwrap();
    ring.shared.state.lock().slots.get_mut(reader.key).unwrap().moved_at -= 4 * MOVING;
    assert!(poll(&mut reader).is_pending());
    (0..2).for_each(|_| _ = writer.append(Frames::one("x")));
    assert!(writer.pressed(Instant::now()));
    assert!(!writer.pressed(Instant::now() + MOVING));
}

/// How long a writer waits for its readers, looking every millisecond, while it appends a thousand frames.
fn held(writer: &mut Writer) -> Duration {
    const TICK: Duration = Duration::from_millis(1);
    let (start, mut held) = (Instant::now(), Duration::ZERO);
    for _ in 0..1000 {
        while writer.pressed(start + held) {
            held += TICK;
            assert!(held < 10 * MOVING, "they hold it for good");
        }
        writer.append(Frames::one("x"));
    }
    // The appends took real time, which is not on the test's clock.
    held.saturating_sub(start.elapsed())
}

/// Ten readers that took one frame each.
fn ten_readers(writer: &mut Writer, ring: &Ring) -> Vec<Reader> {
    let mut readers = Vec::from_iter((0..10).map(|_| ring.reader(Start::Newest).unwrap()));
    writer.append(Frames::one("x"));
    readers.iter_mut().for_each(|reader| drop(chunk(reader)));
    readers
}

/// acp-19: ten readers that were seen to read hold the writer for 250 ms in all, not each, and not again and again.
#[test]
fn readers_that_stall_hold_the_writer_once() {
    let (mut writer, ring) = ring(8, 1000);
    let readers = ten_readers(&mut writer, &ring);
    for reader in &readers {
        let mut state = ring.shared.state.lock();
        let (position, read, now) = (Seq::new(1), 1, Instant::now());
        state.slots.moved(reader.key, slots::SEEN_BYTES as usize, (position, read), now);
    }
    let held = held(&mut writer);
    assert!(held > MOVING / 2 && held <= MOVING, "held for {held:?}");
}

/// acp-19: readers that never read at all, with something in the system's buffers at most, are hardly felt, whatever
/// the readers beside them do.
#[test]
fn readers_that_never_read_are_not_waited_for() {
    let (mut writer, ring) = ring(8, 1000);
    let _readers = ten_readers(&mut writer, &ring);
    let mut active = ring.reader(Start::Newest).unwrap();
    (0..5).for_each(|_| _ = writer.append(Frames::one("x")));
    (0..5).for_each(|_| drop(chunk(&mut active)));
    let now = Instant::now();
    assert!(writer.pressed(now + slots::UNSEEN / 2));
    assert!(!writer.pressed(now + slots::UNSEEN), "nobody moved for long");
    writer.append(Frames::one("x"));
    chunk(&mut active);
    assert!(!writer.pressed(now + slots::UNSEEN / 2), "somebody else moved, but not them");
}

/// acp-19: a reader that has not had its turn yet is waited for as long as others have theirs.
#[test]
fn a_reader_that_was_never_seen_is_waited_for_while_others_move() {
    let (mut writer, ring) = ring(8, 1000);
    let readers = ten_readers(&mut writer, &ring);
    (0..6).for_each(|_| _ = writer.append(Frames::one("x")));
    let mut now = Instant::now();
    for reader in &readers[1..6] {
        now += slots::UNSEEN / 2;
        assert!(writer.pressed(now), "one of them moved, the others may be next");
        ring.shared.state.lock().slots.moved(reader.key, 1, (Seq::new(7), 7), now);
    }
    assert!(writer.pressed(now));
    assert!(!writer.pressed(now + slots::UNSEEN), "but not for ever");
}

/// acp-19: who takes more after a pause has read in between, and is waited for from then on.
#[test]
fn a_slow_reader_is_seen_by_its_pauses() {
    let (mut writer, ring) = ring(8, 1000);
    let mut reader = ten_readers(&mut writer, &ring).swap_remove(0);
    (0..7).for_each(|_| _ = writer.append(Frames::one("x")));
    ring.shared.state.lock().slots.get_mut(reader.key).unwrap().moved_at -= 2 * slots::SEEN_PAUSE;
    chunk(&mut reader);
    assert!(writer.pressed(Instant::now() + MOVING / 2));
}

/// Frames that hardly differ, as the messages of an agent do.
fn repetitive(writer: &mut Writer, batches: usize) {
    for _ in 0..batches {
        let mut batch = writer.batch();
        for _ in 0..100 {
            batch.push(|seq, out| out.put_slice(format!("id: {seq:0200}\n").as_bytes()));
        }
        batch.append();
    }
}

/// What rests takes little memory, and nobody who reads it can tell.
#[test]
fn packed_frames_read_as_they_were() {
    let (mut writer, ring) = ring(1_000_000, 16 << 20);
    repetitive(&mut writer, 20);
    let mut middle = ring.reader(Start::Resume(Seq::new(250))).unwrap();
    let before = ring.bounds();
    assert!(writer.packable());
    while writer.pack() {}
    assert!(!writer.packable());
    assert_eq!(ring.bounds(), before);
    let (plain, packed, small) = ring.shared.state.lock().lengths();
    assert_eq!((plain + packed) as u64, before.bytes);
    assert!(plain < 64 * 1024 && small * 10 < packed, "{plain} and {packed} in {small}");
    let resumed = ring.reader(Start::Resume(Seq::new(250))).unwrap();
    let read = ring.shared.state.lock().slots.get_mut(resumed.key).unwrap().read;
    assert_eq!(read, 250 * 205, "it stands within a block");
    let text = |chunk: crate::Chunk| String::from_utf8(chunk.bytes().to_vec()).unwrap();
    assert!(text(chunk(&mut middle)).starts_with(&format!("id: {:0200}\n", 251)));
    repetitive(&mut writer, 1);
    let mut all = ring.reader(Start::Oldest).unwrap();
    let mut read = String::new();
    while let Poll::Ready(Some(Item::Frames(chunk))) = poll(&mut all) {
        read += &text(chunk);
    }
    assert_eq!(read, Vec::from_iter((1..=2100).map(|seq| format!("id: {seq:0200}\n"))).concat());
}

/// What cannot be made smaller, or is too large to be packed in a moment, stays as it is and is not looked at again.
#[test]
fn what_is_not_worth_packing_stays() {
    let (mut writer, ring) = ring(1_000_000, 64 << 20);
    let mut noise = 1u64;
    let random = Vec::from_iter((0..100_000).map(|_| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 56) as u8
    }));
    writer.append(Frames::one(random.clone()));
    writer.append(Frames::one(vec![b'x'; 2 << 20]));
    writer.append(Frames::one(random));
    while writer.pack() {}
    assert!(!writer.packable());
    assert_eq!(ring.shared.state.lock().lengths(), (2_297_152, 0, 0));
}

/// A block goes as a whole: in a small ring it would take away what readers that keep up have not read.
#[test]
fn a_small_ring_is_not_packed() {
    let (mut writer, _ring) = ring(1_000_000, 200_000);
    repetitive(&mut writer, 20);
    assert!(!writer.packable() && !writer.pack());
}

#[test]
fn dropping_a_reader_frees_its_slot() {
    let (_writer, ring) = ring(10, 1000);
    let (one, mut two) = (ring.reader(Start::Oldest).unwrap(), ring.reader(Start::Oldest).unwrap());
    assert!(poll(&mut two).is_pending());
    assert_eq!(ring.readers(), 2);
    drop((one, two));
    assert_eq!(ring.readers(), 0);
    assert!(!ring.shared.state.lock().slots.waiting());
    let _three = ring.reader(Start::Oldest).unwrap();
    assert_eq!(ring.readers(), 1);
}

/// What a runtime's task is to a waker: it owns a reader, and goes with the last waker.
struct Task(Mutex<Option<Reader>>);

impl std::task::Wake for Task {
    fn wake(self: Arc<Self>) {}
}

/// Polls `reader` with the only waker of a task that owns what `owned` makes of it.
fn wait_as_task(
    mut reader: Reader,
    owned: impl FnOnce(Reader) -> (Option<Reader>, Reader),
) -> Option<Reader> {
    let task = Arc::new(Task(Mutex::new(None)));
    let waker = Waker::from(Arc::clone(&task));
    assert!(reader.poll_next(&mut Context::from_waker(&waker)).is_pending());
    let (left, owned) = owned(reader);
    *task.0.lock() = Some(owned);
    left
}

/// A waker may own the task that owns the reader: it must be dropped outside the lock, or the writer locks up.
#[test]
fn waking_a_task_that_ends_does_not_lock_up() {
    let (mut writer, ring) = ring(10, 1000);
    wait_as_task(ring.reader(Start::Newest).unwrap(), |reader| (None, reader));
    writer.append(Frames::one("x"));
    assert_eq!(ring.readers(), 0);
}

/// The same when a reader goes and takes its waker, and with that another reader, along.
#[test]
fn dropping_a_reader_whose_task_owns_another_does_not_lock_up() {
    let (_writer, ring) = ring(10, 1000);
    let other = ring.reader(Start::Newest).unwrap();
    let left = wait_as_task(ring.reader(Start::Newest).unwrap(), |reader| (Some(reader), other));
    assert_eq!(ring.readers(), 2);
    drop(left);
    assert_eq!(ring.readers(), 0);
}

#[test]
fn dropping_the_writer_ends_the_stream() {
    let (mut writer, ring) = ring(10, 1000);
    writer.append(Frames::one("x"));
    let mut reader = ring.reader(Start::Oldest).unwrap();
    drop(writer);
    ring.set_sealed(false);
    chunk(&mut reader);
    let next = pin!(reader.next());
    assert!(matches!(next.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
}

/// acp-18: an unknown id opens all the same, tells the gap first, and the gap is true when it is told.
#[test]
fn resuming_from_what_is_not_there_tells_the_gap_first() {
    let (mut writer, ring) = ring(2, 1000);
    (0..5).for_each(|_| _ = writer.append(Frames::one("x")));
    for asked in [0, 2, 100, u64::MAX] {
        let mut reader = ring.reader(Start::Resume(Seq::new(asked))).unwrap();
        // The ring moves on between opening and reading.
        writer.append(Frames::one("x"));
        let Poll::Ready(Some(Item::Gap(gap))) = poll(&mut reader) else { panic!("no gap after {asked}") };
        assert_eq!(gap, ring.bounds().gap());
        assert_eq!(chunk(&mut reader).first(), gap.oldest);
    }
}
