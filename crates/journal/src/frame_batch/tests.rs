use super::*;

fn batch() -> FrameBatch {
    FrameBatch::new(Seq::new(5), ["a", "", "ccc"].into_iter().collect())
}

#[test]
fn a_batch_knows_its_numbers_and_sizes() {
    let batch = batch();
    assert_eq!((batch.first(), batch.last()), (Seq::new(5), Seq::new(7)));
    assert_eq!((batch.len(), batch.byte_len()), (3, 4));
    assert_eq!([0, 1, 2].map(|k| batch.frame(k)), ["a", "", "ccc"].map(Bytes::from));
}

#[test]
fn after_slices_the_same_memory() {
    let batch = batch();
    let check = |seq: u64, expected: &str| assert_eq!(batch.after(Seq::new(seq)), expected, "after {seq}");
    check(0, "accc");
    check(4, "accc");
    check(5, "ccc");
    check(6, "ccc");
    check(7, "");
    check(u64::MAX, "");
    assert_eq!(batch.after(Seq::new(6)).as_ptr(), batch.frame(2).as_ptr());
}
