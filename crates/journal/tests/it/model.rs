//! Random histories against a plain list.

use journal::{Append, Error, Follow, Item, Journal, Seq, Start};
use proptest::{collection::vec, prelude::*};

use crate::backend::*;

#[derive(Debug, Clone)]
enum Step {
    /// Append frames of these sizes together.
    Append(Vec<usize>),
    /// Read one item, if there is one.
    Read,
    /// Drop the reader and come back with its cursor.
    Cut,
    /// Nothing happens for a while, and what is kept may be packed.
    Rest,
    /// End the process and start it again.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => vec(0usize..40, 1..6).prop_map(Step::Append),
        2 => vec(10_000usize..40_000, 1..4).prop_map(Step::Append),
        6 => Just(Step::Read),
        2 => Just(Step::Rest),
        3 => Just(Step::Cut),
        1 => Just(Step::Restart),
    ];
    vec(step, 1..60)
}

/// The journal as a list.
struct Model {
    frames: Vec<Vec<u8>>,
    keep: u64,
    position: u64,
}

impl Model {
    fn newest(&self) -> u64 {
        self.frames.len() as u64
    }

    fn oldest(&self) -> u64 {
        self.newest().saturating_sub(self.keep) + 1
    }

    fn expired(&self) -> bool {
        self.position + 1 < self.oldest()
    }

    fn jump(&mut self) -> journal::Gap {
        self.position = self.oldest() - 1;
        gap(self.oldest(), self.newest())
    }

    fn read(&mut self, item: Item) {
        match item {
            Item::Gap(told) => {
                assert!(self.expired(), "a gap although frame {} is kept", self.position + 1);
                assert_eq!(told, self.jump());
            }
            Item::Frames(chunk) => {
                // A reader that follows gets a batch whole as long as the last of its frames is kept.
                assert!(chunk.last().get() >= self.oldest(), "frames {:?} instead of a gap", chunk.range());
                for (seq, frame) in chunk.frames() {
                    self.position += 1;
                    assert_eq!(
                        (seq.get(), &frame[..]),
                        (self.position, &self.frames[self.position as usize - 1][..])
                    );
                }
            }
        }
    }
}

async fn follow_the_model<B: Backend>(keep_events: u64, steps: Vec<Step>) {
    let mut backend = B::start();
    let retention = keep(keep_events, 100_000_000);
    let (mut writer, mut journal) = backend.open(retention).await;
    let mut reader = journal.reader(Start::Oldest).unwrap();
    let mut model = Model { frames: Vec::new(), keep: keep_events, position: 0 };
    for step in steps {
        match step {
            Step::Append(sizes) => {
                let new = Vec::from_iter(sizes.iter().map(|&size| vec![model.frames.len() as u8; size]));
                let range = writer.append(frames(&new)).await.unwrap();
                assert_eq!(range.start().get(), model.newest() + 1);
                model.frames.extend(new);
                assert_eq!(range.end().get(), model.newest());
            }
            Step::Read if model.position < model.newest() => {
                model.read(reader.next().await.unwrap().unwrap())
            }
            Step::Read => {}
            Step::Rest => B::rest(&mut writer),
            Step::Cut => {
                let cursor = reader.cursor();
                assert_eq!(cursor.seq.get(), model.position);
                reader = reopen(&journal, cursor, &mut model);
            }
            Step::Restart => {
                let (cursor, before) = (reader.cursor(), journal.bounds());
                backend.restart();
                (writer, journal) = backend.open(retention).await;
                if B::DURABLE {
                    assert_eq!(journal.bounds(), before, "everything acknowledged is there");
                } else {
                    let unknown = Error::Unknown { bounds: journal.bounds() };
                    assert_eq!(journal.reader(Start::After(cursor)).err(), Some(unknown));
                    model = Model { frames: Vec::new(), keep: keep_events, position: 0 };
                }
                let cursor = if B::DURABLE { cursor } else { journal.cursor(Seq::ZERO) };
                reader = reopen(&journal, cursor, &mut model);
            }
        }
        assert_eq!(journal.bounds().gap(), gap(model.oldest(), model.newest()));
    }
    writer.seal();
    while let Some(item) = reader.next().await.unwrap() {
        model.read(item);
    }
    assert_eq!(model.position, model.newest());
}

fn reopen<J: Journal>(journal: &J, cursor: journal::Cursor, model: &mut Model) -> J::Reader {
    match journal.reader(Start::After(cursor)) {
        Ok(reader) => {
            assert!(!model.expired());
            reader
        }
        Err(error) => {
            assert!(model.expired());
            assert_eq!(error, Error::Expired(model.jump()));
            journal.reader(Start::Oldest).unwrap()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn the_ring_follows_the_model(keep in 1..60u64, steps in steps()) {
        run(follow_the_model::<Memory>(keep, steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]
    #[test]
    fn the_file_follows_the_model(keep in 1..60u64, steps in steps()) {
        run(follow_the_model::<Sqlite>(keep, steps));
    }
}
