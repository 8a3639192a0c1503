use proptest::prelude::*;

use super::*;

/// The output of one stream that was read in these pieces.
fn events(pieces: &[&[u8]]) -> Vec<OutputPiece> {
    let (mut encoder, at) = (LogEncoder::default(), Timestamp::UNIX_EPOCH);
    let mut frames: Vec<BytesMut> = Vec::new();
    for piece in pieces {
        let mut frame = BytesMut::new();
        encoder.encode_output(OutputStream::Stdout, at, piece, &mut frame);
        frames.push(frame);
    }
    let mut frame = BytesMut::new();
    if encoder.encode_carry(OutputStream::Stdout, at, &mut frame) {
        frames.push(frame);
    }
    let output = |frame: BytesMut| match ProcessEvent::decode(frame.freeze()) {
        ProcessEvent::Output(output) => output,
        ProcessEvent::Exited(exit) => panic!("{exit:?}"),
    };
    frames.into_iter().map(output).collect()
}

fn check(pieces: &[&[u8]], texts: &[&str]) {
    let actual: Vec<String> = events(pieces).iter().map(OutputPiece::text).collect();
    assert_eq!(actual, texts);
}

#[test]
fn a_character_in_two_pieces_is_shown_with_the_later_one() {
    check(&[b"a\xc3", b"\xa4b"], &["a", "äb"]);
    check(&[b"\xf0", b"\x9f", b"\x98", b"\x80"], &["", "", "", "😀"]);
    check(&[b"\xe2\x82", b"x"], &["", "\u{fffd}x"]);
    check(&[b"ok\xe2\x82"], &["ok", "\u{fffd}"]);
    check(&[b"\xff\xfe"], &["\u{fffd}\u{fffd}"]);
    check(&[b"\x80\x80\x80\x80"], &["\u{fffd}\u{fffd}\u{fffd}\u{fffd}"]);
}

#[test]
fn streams_do_not_complete_each_others_characters() {
    let (mut encoder, at) = (LogEncoder::default(), Timestamp::UNIX_EPOCH);
    let mut frame = BytesMut::new();
    encoder.encode_output(OutputStream::Stdout, at, b"\xc3", &mut frame);
    frame.clear();
    encoder.encode_output(OutputStream::Stderr, at, b"\xa4", &mut frame);
    let ProcessEvent::Output(output) = ProcessEvent::decode(frame.freeze()) else { panic!("not an output") };
    assert_eq!((output.stream, output.text().as_str()), (OutputStream::Stderr, "\u{fffd}"));
    assert!(encoder.has_carry(OutputStream::Stdout) && !encoder.has_carry(OutputStream::Stderr));
}

#[test]
fn an_exit_is_decoded_as_encoded() {
    for (code, signal) in [(Some(0), None), (Some(255), None), (None, Some(9)), (None, None)] {
        let exit =
            ProcessExit { code, signal, exited_at: Timestamp::new(1_700_000_000, 123_456_789).unwrap() };
        let mut frame = BytesMut::new();
        encode_exit(&exit, &mut frame);
        assert_eq!(ProcessEvent::decode(frame.freeze()), ProcessEvent::Exited(exit));
    }
}

proptest! {
    #[test]
    fn splitting_changes_neither_bytes_nor_text(
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
        let text: String = outputs.iter().map(OutputPiece::text).collect();
        prop_assert_eq!(text, String::from_utf8_lossy(&whole));
    }
}

#[test]
fn a_tag_is_decoded_as_encoded() {
    for stream in [OutputStream::Stdout, OutputStream::Stderr] {
        for carry in 0..=3 {
            for last in [false, true] {
                let tag = FrameTag::Output { stream, carry, last };
                assert_eq!(FrameTag::from_byte(tag.to_byte()), tag);
            }
        }
    }
    assert_eq!(FrameTag::from_byte(FrameTag::Exited.to_byte()), FrameTag::Exited);
}
