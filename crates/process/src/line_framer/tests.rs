use proptest::prelude::*;

use super::*;

#[derive(Debug, PartialEq, Eq)]
enum Received {
    Line(Vec<u8>),
    TooLong(u64),
}

fn take(framer: &mut LineFramer, received: &mut Vec<Received>) {
    received.extend(framer.chunk().map(|piece| match piece {
        FramedLine::Line(line) => Received::Line(line.to_vec()),
        FramedLine::TooLong { bytes } => Received::TooLong(bytes),
    }));
}

fn frame<'a>(line_bytes_max: usize, reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<Received> {
    let mut framer = LineFramer::new(line_bytes_max);
    let mut received = Vec::new();
    for read in reads {
        framer.space().extend_from_slice(read);
        take(&mut framer, &mut received);
    }
    framer.finish();
    take(&mut framer, &mut received);
    take(&mut framer, &mut received); // What was received is not received again.
    received
}

/// The expected lines, computed from the whole input at once.
fn expected(line_bytes_max: usize, input: &[u8]) -> Vec<Received> {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let received = lines.into_iter().map(|line| match line {
        _ if line.len() > line_bytes_max => Received::TooLong(line.len() as u64),
        [line @ .., b'\r'] | line => Received::Line(line.to_vec()),
    });
    received.collect()
}

#[track_caller]
fn check(reads: &[&[u8]], lines: &[&[u8]]) {
    let lines: Vec<Received> = lines.iter().map(|line| Received::Line(line.to_vec())).collect();
    assert_eq!(frame(8, reads.iter().copied()), lines);
}

#[test]
fn lines_are_returned_without_line_ends() {
    check(&[], &[]);
    check(&[b"one\ntwo\n"], &[b"one", b"two"]);
    check(&[b"one\r\n\r\n\n"], &[b"one", b"", b""]);
    check(&[b"on", b"e\nt", b"wo\n"], &[b"one", b"two"]);
    check(&[b"last"], &[b"last"]);
}

#[test]
fn every_other_byte_survives() {
    check(
        &[b"a\0\xff\n", b"\xc3", b"\xa4\n", b"a\rb\n", b"\r\r\n"],
        &[b"a\0\xff", b"\xc3\xa4", b"a\rb", b"\r"],
    );
}

#[test]
fn a_long_line_is_reported_once_with_its_length() {
    let received = |length| {
        vec![Received::Line(b"a".to_vec()), Received::TooLong(length), Received::Line(b"b".to_vec())]
    };
    assert_eq!(frame(8, [&b"a\n123456789\nb"[..]]), received(9));
    assert_eq!(frame(8, [&b"a\n123456"[..], b"7890123", b"45\nb\n"]), received(15));
    assert_eq!(frame(8, [&b"123456789"[..]]), [Received::TooLong(9)]);
    assert_eq!(frame(8, [&b"12345678\n"[..]]), [Received::Line(b"12345678".to_vec())]);
}

/// acp-13: memory stays bounded while a line above the limit comes in, and a grown buffer is released.
#[test]
fn memory_is_bounded_and_released() {
    let limit = 1 << 20;
    let mut framer = LineFramer::new(limit);
    let mut most = 0;
    for _ in 0..640 {
        framer.space().extend_from_slice(&[b'x'; READ_BYTES]);
        assert!(!framer.is_ready());
        most = most.max(framer.capacity());
    }
    assert!(most <= limit + 2 * READ_BYTES, "{most}");
    framer.space().extend_from_slice(b"\nnext\n");
    let received: Vec<_> = framer.chunk().collect();
    assert_eq!(received, [FramedLine::TooLong { bytes: 640 * READ_BYTES as u64 }, FramedLine::Line(b"next")]);
    framer.release();
    assert!(framer.capacity() <= KEEP_BYTES_MAX);
}

#[test]
fn a_line_at_the_limit_is_returned_and_its_buffer_released() {
    let limit = 4 << 20;
    let mut framer = LineFramer::new(limit);
    for _ in 0..limit / READ_BYTES {
        framer.space().extend_from_slice(&[b'x'; READ_BYTES]);
    }
    framer.space().extend_from_slice(b"\nnext");
    assert_eq!(framer.chunk().collect::<Vec<_>>(), [FramedLine::Line(&vec![b'x'; limit])]);
    framer.release();
    assert!(framer.capacity() <= KEEP_BYTES_MAX);
    framer.finish();
    assert_eq!(framer.chunk().collect::<Vec<_>>(), [FramedLine::Line(b"next")]);
}

proptest! {
    #[test]
    fn the_lines_do_not_depend_on_the_reads(
        reads in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'x'), any::<u8>()], 0..12), 0..24),
        line_bytes_max in 0..20_usize,
    ) {
        let input = reads.concat();
        prop_assert_eq!(frame(line_bytes_max, reads.iter().map(Vec::as_slice)), expected(line_bytes_max, &input));
    }
}
