use proptest::prelude::*;

use super::*;

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Line(Vec<u8>),
    TooLong(u64),
}

fn take(framer: &mut Framer, told: &mut Vec<Told>) {
    told.extend(framer.chunk().map(|piece| match piece {
        Piece::Line(line) => Told::Line(line.to_vec()),
        Piece::TooLong { bytes } => Told::TooLong(bytes),
    }));
}

fn frame<'a>(line_bytes_max: usize, reads: impl IntoIterator<Item = &'a [u8]>) -> Vec<Told> {
    let mut framer = Framer::new(line_bytes_max);
    let mut told = Vec::new();
    for read in reads {
        framer.space().extend_from_slice(read);
        take(&mut framer, &mut told);
    }
    framer.finish();
    take(&mut framer, &mut told);
    take(&mut framer, &mut told); // What was told is not told again.
    told
}

/// The rule in its plainest form, over the whole input.
fn expected(line_bytes_max: usize, input: &[u8]) -> Vec<Told> {
    let mut lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let told = lines.into_iter().map(|line| match line {
        _ if line.len() > line_bytes_max => Told::TooLong(line.len() as u64),
        [line @ .., b'\r'] | line => Told::Line(line.to_vec()),
    });
    told.collect()
}

#[track_caller]
fn check(reads: &[&[u8]], lines: &[&[u8]]) {
    let lines: Vec<Told> = lines.iter().map(|line| Told::Line(line.to_vec())).collect();
    assert_eq!(frame(8, reads.iter().copied()), lines);
}

#[test]
fn lines_come_without_their_ends() {
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
fn a_long_line_is_told_once_with_its_length() {
    let told = |length| vec![Told::Line(b"a".to_vec()), Told::TooLong(length), Told::Line(b"b".to_vec())];
    assert_eq!(frame(8, [&b"a\n123456789\nb"[..]]), told(9));
    assert_eq!(frame(8, [&b"a\n123456"[..], b"7890123", b"45\nb\n"]), told(15));
    assert_eq!(frame(8, [&b"123456789"[..]]), [Told::TooLong(9)]);
    assert_eq!(frame(8, [&b"12345678\n"[..]]), [Told::Line(b"12345678".to_vec())]);
}

/// acp-13: memory stays bounded while a line above the limit comes in, and a grown buffer is given back.
#[test]
fn memory_is_bounded_and_given_back() {
    let limit = 1 << 20;
    let mut framer = Framer::new(limit);
    let mut most = 0;
    for _ in 0..640 {
        framer.space().extend_from_slice(&[b'x'; READ_BYTES]);
        assert!(!framer.is_ready());
        most = most.max(framer.capacity());
    }
    assert!(most <= limit + 2 * READ_BYTES, "{most}");
    framer.space().extend_from_slice(b"\nnext\n");
    let told: Vec<_> = framer.chunk().collect();
    assert_eq!(told, [Piece::TooLong { bytes: 640 * READ_BYTES as u64 }, Piece::Line(b"next")]);
    framer.release();
    assert!(framer.capacity() <= KEEP_BYTES_MAX);
}

#[test]
fn a_line_at_the_limit_is_delivered_and_its_buffer_given_back() {
    let limit = 4 << 20;
    let mut framer = Framer::new(limit);
    for _ in 0..limit / READ_BYTES {
        framer.space().extend_from_slice(&[b'x'; READ_BYTES]);
    }
    framer.space().extend_from_slice(b"\nnext");
    assert_eq!(framer.chunk().collect::<Vec<_>>(), [Piece::Line(&vec![b'x'; limit])]);
    framer.release();
    assert!(framer.capacity() <= KEEP_BYTES_MAX);
    framer.finish();
    assert_eq!(framer.chunk().collect::<Vec<_>>(), [Piece::Line(b"next")]);
}

proptest! {
    #[test]
    fn the_pieces_are_the_same_whatever_the_reads(
        reads in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'x'), any::<u8>()], 0..12), 0..24),
        line_bytes_max in 0..20_usize,
    ) {
        let input = reads.concat();
        prop_assert_eq!(frame(line_bytes_max, reads.iter().map(Vec::as_slice)), expected(line_bytes_max, &input));
    }
}
