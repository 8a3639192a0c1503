use tokio::sync::oneshot;

use super::*;
use crate::{
    Frames, Seq,
    durable::{Note, schema},
};

fn writer(dir: &tempfile::TempDir) -> Writer {
    let conn = schema::open(&dir.path().join("journal.db"), crate::durable::Sync::Normal).unwrap();
    let (_queue, _closer, requests) = crate::durable::queue::queue();
    let (signal, open) = (Arc::new(Signal::default()), HashMap::new());
    Writer { conn, requests, signal, open, sweep_at: OPEN_MIN, doomed: Vec::new(), closing: false }
}

/// Appends the frames as one group; answers with the first number of each.
fn append(writer: &mut Writer, journal: &Arc<Shared>, sizes: &[usize]) -> Vec<Result<Seq, Error>> {
    let (mut group, mut answers) = (Vec::new(), Vec::new());
    for &size in sizes {
        let (reply, answer) = oneshot::channel();
        group.push(Work {
            journal: Arc::clone(journal),
            frames: Frames::one(vec![0; size]),
            notes: Vec::new(),
            reply,
        });
        answers.push(answer);
    }
    writer.append(&mut group);
    answers.into_iter().map(|mut answer| answer.try_recv().unwrap().map(|range| *range.start())).collect()
}

/// A full disk refuses the whole group, shows nothing of it to readers, and leaves no hole in the numbers.
#[test]
fn what_could_not_be_written_never_was() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    assert!(matches!(append(&mut writer, &journal, &[1, 1])[..], [Ok(one), Ok(_)] if one == Seq::new(1)));
    let before = journal.bounds();
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    let refused = append(&mut writer, &journal, &[1, 1_000_000]);
    assert!(matches!(refused[..], [Err(Error::Write(_)), Err(Error::Write(_))]), "{refused:?}");
    assert_eq!((journal.bounds(), journal.tail.bounds().newest), (before, before.newest));
    assert!(matches!(append(&mut writer, &journal, &[1])[..], [Ok(three)] if three == Seq::new(3)));
}

/// A note is written with the frames that it goes with, or not at all, and goes with its journal.
#[test]
fn a_note_shares_the_fate_of_its_frames() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    let noting = |writer: &mut Writer, bytes: usize, note: Note| {
        let (reply, mut answer) = oneshot::channel();
        let (journal, frames) = (Arc::clone(&journal), Frames::one(vec![0; bytes]));
        writer.append(&mut vec![Work { journal, frames, notes: vec![note], reply }]);
        answer.try_recv().unwrap().is_ok()
    };
    let says = |writer: &Writer| note::one(&writer.conn, 1, "state", "k").unwrap();
    assert!(noting(&mut writer, 1, Note::says("state", "k", "first")));
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    assert!(!noting(&mut writer, 1_000_000, Note::says("state", "k", "second")));
    assert_eq!(says(&writer).unwrap(), "first");
    assert!(noting(&mut writer, 1, Note::gone("state", "k")));
    assert_eq!(says(&writer), None);
    assert!(noting(&mut writer, 1, Note::says("state", "k", "third")));
    writer.delete("one").unwrap();
    while !writer.doomed.is_empty() {
        writer.bury();
    }
    assert_eq!(says(&writer), None);
}

/// Journals that nobody holds are closed when there are many, those that somebody holds never.
#[test]
fn journals_nobody_holds_are_closed_in_time() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let held = writer.open("held", Retention::UNLIMITED).unwrap();
    for name in 0..OPEN_MIN * 2 {
        writer.open(&name.to_string(), Retention::UNLIMITED).unwrap();
    }
    assert!(writer.open.len() <= OPEN_MIN + 1, "{} are open", writer.open.len());
    assert!(writer.open.contains_key(&held.id));
}
