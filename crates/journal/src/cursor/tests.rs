use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: Result<(u64, u64), ParseCursorError>) {
    let parsed = text.parse::<Cursor>().map(|cursor| (cursor.epoch.to_bits().get(), cursor.seq.get()));
    assert_eq!(parsed, expected, "{text:?}");
}

#[test]
fn only_the_written_form_is_a_cursor() {
    use ParseCursorError::{Epoch, Seq, Shape};
    let seq = Seq(ParseSeqError);
    check("00000000000000ff-7", Ok((255, 7)));
    check("00000000000000ff-0", Ok((255, 0)));
    check("ffffffffffffffff-18446744073709551615", Ok((u64::MAX, u64::MAX)));
    check("", Err(Shape));
    check("00000000000000ff", Err(Shape));
    check("-1", Err(Epoch));
    check("0000000000000000-1", Err(Epoch));
    check("00000000000000FF-1", Err(Epoch));
    check("+0000000000000ff-1", Err(Epoch));
    check("000000000000ff-1", Err(Epoch));
    check("é0000000000000ff-1", Err(Epoch));
    check("00000000000000ff-", Err(seq));
    check("00000000000000ff-01", Err(seq));
    check("00000000000000ff-+1", Err(seq));
    check("00000000000000ff--1", Err(seq));
    check("00000000000000ff-1 ", Err(seq));
    check("00000000000000ff-18446744073709551616", Err(seq));
}

proptest! {
    #[test]
    fn a_cursor_survives_its_text(epoch in 1..=u64::MAX, seq: u64) {
        let cursor = Cursor { epoch: Epoch(NonZeroU64::new(epoch).unwrap()), seq: crate::Seq::new(seq) };
        prop_assert_eq!(cursor.to_string().parse::<Cursor>(), Ok(cursor));
    }

    #[test]
    fn what_parses_is_written_back_unchanged(text in "[0-9a-f]{14,18}-?[-+0-9a-f]{0,21}|.{0,40}") {
        if let Ok(cursor) = text.parse::<Cursor>() {
            prop_assert_eq!(cursor.to_string(), text);
        }
    }
}

#[test]
fn epochs_differ() {
    assert_ne!(Epoch::random(), Epoch::random());
}
