//! However bytes are cut into reads, the same lines come out, and they are what `split` would say.

#![no_main]

use libfuzzer_sys::fuzz_target;
use process::{LineFramer, FramedLine};

/// Small, so that lines above the limit are common.
const LINE_BYTES_MAX: usize = 16;

fuzz_target!(|input: (usize, &[u8])| {
    let (step, bytes) = (input.0 % 40 + 1, input.1);
    let mut framer = LineFramer::new(LINE_BYTES_MAX);
    let mut told = Vec::new();
    for read in bytes.chunks(step) {
        framer.space().extend_from_slice(read);
        told.extend(framer.chunk().map(describe));
    }
    framer.finish();
    told.extend(framer.chunk().map(describe));
    assert_eq!(told, expected(bytes));
});

/// A line, or the length of one that was dropped.
type Told = Result<Vec<u8>, u64>;

fn describe(piece: FramedLine<'_>) -> Told {
    match piece {
        FramedLine::Line(line) => Ok(line.to_vec()),
        FramedLine::TooLong { bytes } => Err(bytes),
    }
}

fn expected(bytes: &[u8]) -> Vec<Told> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    body.split(|byte| *byte == b'\n')
        .map(|line| match line {
            long if long.len() > LINE_BYTES_MAX => Err(long.len() as u64),
            line => Ok(line.strip_suffix(b"\r").unwrap_or(line).to_vec()),
        })
        .collect()
}
