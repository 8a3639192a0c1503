use proptest::prelude::*;

use super::*;

fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut parser = Parser::default();
    let mut frames = Vec::new();
    for piece in pieces {
        parser.push(piece).unwrap();
        frames.extend(std::iter::from_fn(|| parser.pop()));
    }
    frames
}

fn frame(event: &str, id: Option<&str>, data: &str) -> Frame {
    Frame { event: event.into(), id: id.map(Into::into), data: data.into() }
}

fn check(text: &str, expected: &[Frame]) {
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

#[test]
fn a_frame_without_end_is_refused_and_not_kept() {
    let piece = vec![b'x'; 1 << 20];
    let mut line = Parser::default();
    let taken = (0..100).take_while(|_| line.push(&piece).is_ok()).count();
    assert_eq!(taken, FRAME_BYTES_MAX >> 20);
    let mut lines = Parser::default();
    let piece: Vec<u8> = [b"data: ".as_slice(), &piece, b"\n"].concat();
    let taken = (0..100).take_while(|_| lines.push(&piece).is_ok()).count();
    assert!((60..66).contains(&taken), "{taken}");
}

/// The standard, as slowly and plainly as it can be written.
fn model(text: &[u8]) -> Vec<Frame> {
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
