use proptest::prelude::*;

use super::*;

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseFrame> {
    let mut parser = SseParser::default();
    let mut frames = Vec::new();
    for piece in pieces {
        parser.push(piece);
        frames.extend(std::iter::from_fn(|| parser.pop()).map(Result::unwrap));
    }
    frames
}

fn frame(event: &str, id: Option<&str>, data: &str) -> SseFrame {
    SseFrame { event: event.into(), id: id.map(Into::into), data: data.into() }
}

fn check(text: &str, expected: &[SseFrame]) {
    assert_eq!(parse([text.as_bytes()]), expected, "{text:?}");
}

#[test]
fn frames_are_read_as_the_standard_says() {
    check("event: message\nid: 7\ndata: {}\n\n", &[frame("message", Some("7"), "{}")]);
    check("data:a\ndata:  b\ndata\n\n", &[frame("", None, "a\n b\n")]);
    check(": connected\n\n: heartbeat\n\n", &[]);
    check("event: gap\n\ndata: x\n\n", &[frame("", None, "x")]);
    check(
        "\u{feff}data: a\r\n\r\ndata: b\r\rdata: c\n\n",
        &[frame("", None, "a"), frame("", None, "b"), frame("", None, "c")],
    );
    check("id: a\0b\nretry: 5\nother: y\ndata: x\n\n", &[frame("", None, "x")]);
    check("data: a frame without its end\n", &[]);
    check("data:\n\n", &[frame("", None, "")]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(parse([&b"data: \xff\n\n"[..]]), [frame("", None, "\u{fffd}")]);
}

/// The results for a stream that is pushed in pieces of `size` bytes to a parser with a limit of 16 bytes.
fn parse_limited(text: &str, size: usize) -> Vec<Result<SseFrame, FrameTooLarge>> {
    let mut parser = SseParser::new(16);
    text.as_bytes().chunks(size).for_each(|piece| parser.push(piece));
    std::iter::from_fn(|| parser.pop()).collect()
}

#[test]
fn a_frame_that_is_too_large_is_skipped_and_the_next_one_is_read() {
    let long_line = format!("data: {}\n\ndata: ok\n\n", "x".repeat(100));
    let many_lines = format!("{}\ndata: ok\n\n", "data: four\r\n".repeat(10));
    for text in [long_line, many_lines] {
        for size in 1..=text.len() {
            let results = parse_limited(&text, size);
            assert_eq!(results.len(), 2, "{size} {results:?}");
            assert!(results[0].as_ref().is_err_and(|error| error.bytes > 16), "{size} {results:?}");
            assert_eq!(results[1], Ok(frame("", None, "ok")), "{size}");
        }
    }
}

#[test]
fn a_line_without_end_is_not_kept_in_memory() {
    let mut parser = SseParser::new(1 << 10);
    for _ in 0..1000 {
        parser.push(&[b'x'; 1 << 10]);
        assert!(parser.buffered_bytes() <= 1 << 10);
    }
    assert_eq!(parser.pop(), None);
    parser.push(b"\n\n");
    assert_eq!(parser.pop(), Some(Err(FrameTooLarge { bytes: 1000 << 10 })));
}

/// The standard, as slowly and plainly as it can be written.
fn model(text: &[u8]) -> Vec<SseFrame> {
    let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let mut frames = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop(); // what has no end is no line
    for line in lines {
        if !line.is_empty() {
            block.push(line);
            continue;
        }
        let fields: Vec<(&str, &str)> = block
            .drain(..)
            .map(|line| line.split_once(':').unwrap_or((line, "")))
            .map(|(name, value)| (name, value.strip_prefix(' ').unwrap_or(value)))
            .collect();
        let last =
            |wanted: &str| fields.iter().rev().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
        let data: Vec<&str> =
            fields.iter().filter(|(name, _)| *name == "data").map(|(_, value)| *value).collect();
        if !data.is_empty() {
            frames.push(frame(last("event").unwrap_or_default(), last("id"), &data.join("\n")));
        }
    }
    frames
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just("\n"), 2 => Just("\r"), 2 => Just("\r\n"), 4 => Just("data: "), 2 => Just("data:"), 1 => Just("data"),
        2 => Just("id: "), 2 => Just("event: "), 1 => Just(": "), 1 => Just(" "), 2 => Just("x"), 1 => Just("7"),
        1 => Just("\u{feff}"), 1 => Just("\u{e9}"), 1 => Just("{\"a\":1}"),
    ];
    prop::collection::vec(part, 0..60).prop_map(|parts| parts.concat().into_bytes())
}

proptest! {
    #[test]
    fn any_stream_reads_the_same_in_any_pieces(bytes in stream(), cuts in prop::collection::vec(0..200usize, 0..20)) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(parse(pieces), model(&bytes));
    }

    #[test]
    fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(parse(bytes.chunks(1)), parse([bytes.as_slice()]));
    }
}
