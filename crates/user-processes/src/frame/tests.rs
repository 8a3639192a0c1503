use proptest::prelude::*;

use super::*;

/// The events of one stream that was read in these pieces.
fn events(pieces: &[&[u8]]) -> Vec<Output> {
    let (mut encoder, at) = (Encoder::default(), Timestamp::UNIX_EPOCH);
    let mut frames: Vec<BytesMut> = Vec::new();
    for piece in pieces {
        let mut frame = BytesMut::new();
        encoder.output(OutputStream::Stdout, at, piece, &mut frame);
        frames.push(frame);
    }
    let mut frame = BytesMut::new();
    if encoder.rest(OutputStream::Stdout, at, &mut frame) {
        frames.push(frame);
    }
    let output = |frame: BytesMut| match Event::read(frame.freeze()) {
        Event::Output(output) => output,
        Event::Exited(exit) => panic!("{exit:?}"),
    };
    frames.into_iter().map(output).collect()
}

fn check(pieces: &[&[u8]], texts: &[&str]) {
    let told: Vec<String> = events(pieces).iter().map(Output::text).collect();
    assert_eq!(told, texts);
}

#[test]
fn a_character_in_two_pieces_is_told_with_the_later() {
    check(&[b"a\xc3", b"\xa4b"], &["a", "äb"]);
    check(&[b"\xf0", b"\x9f", b"\x98", b"\x80"], &["", "", "", "😀"]);
    check(&[b"\xe2\x82", b"x"], &["", "\u{fffd}x"]);
    check(&[b"ok\xe2\x82"], &["ok", "\u{fffd}"]);
    check(&[b"\xff\xfe"], &["\u{fffd}\u{fffd}"]);
    check(&[b"\x80\x80\x80\x80"], &["\u{fffd}\u{fffd}\u{fffd}\u{fffd}"]);
}

#[test]
fn streams_do_not_finish_each_others_characters() {
    let (mut encoder, at) = (Encoder::default(), Timestamp::UNIX_EPOCH);
    let mut frame = BytesMut::new();
    encoder.output(OutputStream::Stdout, at, b"\xc3", &mut frame);
    frame.clear();
    encoder.output(OutputStream::Stderr, at, b"\xa4", &mut frame);
    let Event::Output(output) = Event::read(frame.freeze()) else { panic!("not an output") };
    assert_eq!((output.stream, output.text().as_str()), (OutputStream::Stderr, "\u{fffd}"));
    assert!(encoder.has_rest(OutputStream::Stdout) && !encoder.has_rest(OutputStream::Stderr));
}

#[test]
fn an_end_is_read_as_it_was_written() {
    for (code, signal) in [(Some(0), None), (Some(255), None), (None, Some(9)), (None, None)] {
        let exit = ProcessExit { code, signal, at: Timestamp::new(1_700_000_000, 123_456_789).unwrap() };
        let mut frame = BytesMut::new();
        exited(&exit, &mut frame);
        assert_eq!(Event::read(frame.freeze()), Event::Exited(exit));
    }
}

proptest! {
    #[test]
    fn cutting_changes_neither_bytes_nor_text(
        pieces in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&b"az\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xff\xed"[..]), 1..5),
            0..20,
        )
    ) {
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let whole = pieces.concat();
        let outputs = events(&pieces);
        let bytes: Vec<u8> = outputs.iter().flat_map(|output| output.bytes().to_vec()).collect();
        prop_assert_eq!(&bytes, &whole);
        let text: String = outputs.iter().map(Output::text).collect();
        prop_assert_eq!(text, String::from_utf8_lossy(&whole));
    }
}
