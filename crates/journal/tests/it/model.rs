//! Random histories, compared with a plain list.

use journal::{Error, JournalItem, Seq, StartPosition};
use proptest::{collection::vec, prelude::*};

use crate::backend::*;

#[derive(Debug, Clone)]
enum Step {
    /// Append frames of these sizes together.
    Append(Vec<usize>),
    /// Read one item, if there is one.
    Read,
    /// Drop the reader and reopen it at its cursor.
    Reconnect,
    /// Nothing is appended for a while, so that old frames are packed.
    Pack,
    /// End the process and start it again.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => vec(0usize..40, 1..6).prop_map(Step::Append),
        2 => vec(10_000usize..40_000, 1..4).prop_map(Step::Append),
        6 => Just(Step::Read),
        2 => Just(Step::Pack),
        3 => Just(Step::Reconnect),
        1 => Just(Step::Restart),
    ];
    vec(step, 1..60)
}

/// A journal modelled as a list.
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

    fn read(&mut self, item: JournalItem) {
        match item {
            JournalItem::Gap(reported) => {
                assert!(self.expired(), "a gap although frame {} is available", self.position + 1);
                assert_eq!(reported, self.jump());
            }
            JournalItem::Frames(chunk) => {
                // A reader at the start of a batch gets all of it as long as its last frame is retained.
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

async fn check_against_model(mut backend: Backend, keep_events: u64, steps: Vec<Step>) {
    let retention = keep(keep_events, 100_000_000);
    let (mut writer, mut journal) = backend.open(retention).await;
    let mut reader = journal.reader(StartPosition::Oldest).unwrap();
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
            Step::Pack => writer.pack(),
            Step::Reconnect => {
                let cursor = reader.cursor();
                assert_eq!(cursor.seq.get(), model.position);
                reader = reopen(&journal, cursor, &mut model);
            }
            Step::Restart => {
                let (cursor, before) = (reader.cursor(), journal.bounds());
                backend.restart();
                (writer, journal) = backend.open(retention).await;
                if backend.is_durable() {
                    assert_eq!(journal.bounds(), before, "all acknowledged frames are there");
                } else {
                    let unknown = Error::Unknown { bounds: journal.bounds() };
                    assert_eq!(journal.reader(StartPosition::After(cursor)).err(), Some(unknown));
                    model = Model { frames: Vec::new(), keep: keep_events, position: 0 };
                }
                let cursor = if backend.is_durable() { cursor } else { journal.cursor(Seq::ZERO) };
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

fn reopen(journal: &AnyJournal, cursor: journal::Cursor, model: &mut Model) -> AnyReader {
    match journal.reader(StartPosition::After(cursor)) {
        Ok(reader) => {
            assert!(!model.expired());
            reader
        }
        Err(error) => {
            assert!(model.expired());
            assert_eq!(error, Error::Expired(model.jump()));
            journal.reader(StartPosition::Oldest).unwrap()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]
    #[test]
    fn the_ring_behaves_like_a_list(keep in 1..60u64, steps in steps()) {
        run(check_against_model(Backend::Memory, keep, steps));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]
    #[test]
    fn the_file_behaves_like_a_list(keep in 1..60u64, steps in steps()) {
        run(check_against_model(Backend::sqlite(), keep, steps));
    }
}
