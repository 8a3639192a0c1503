use tokio::sync::oneshot;

use super::*;
use crate::{
    Frames, Seq,
    durable::{Note, schema},
};

fn writer(dir: &tempfile::TempDir) -> Writer {
    let conn = schema::open(&dir.path().join("journal.db"), crate::durable::Sync::Normal).unwrap();
    let (_queue, _closer, requests) = crate::durable::queue::queue();
    let places = Places::open(&conn).unwrap();
    Writer::new(conn, places, requests, Arc::new(Signal::default()), Metrics::default())
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

fn number(writer: &Writer, query: &str) -> i64 {
    writer.conn.query_row(query, [], |row| row.get(0)).unwrap()
}

/// What had no place when the process ended is found when the file is opened again, and read.
#[test]
fn rows_without_a_place_outlive_a_sudden_end() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut first = writer(&dir);
    let journal = first.open("one", Retention::UNLIMITED).unwrap();
    for _ in 0..10 {
        append(&mut first, &journal, &[7]);
    }
    assert_eq!(number(&first, "SELECT count(*) FROM places"), 0, "they were placed one by one");
    drop(first);
    let mut again = writer(&dir);
    let journal = again.open("one", Retention::UNLIMITED).unwrap();
    assert_eq!((journal.bounds().events, journal.bounds().bytes), (10, 70));
    let page = ledger::page(&again.conn, journal.id, Seq::new(3), Seq::new(10)).unwrap();
    assert_eq!((page.first(), page.len()), (Seq::new(4), 7));
}

/// However many journals there are and however rarely each is written to, only the last rows are looked at after a
/// sudden end.
#[test]
fn no_row_waits_long_for_its_place() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let quiet = writer.open("quiet", Retention::UNLIMITED).unwrap();
    append(&mut writer, &quiet, &[1]);
    let journals: Vec<_> =
        (0..500).map(|name| writer.open(&name.to_string(), Retention::UNLIMITED).unwrap()).collect();
    for journal in journals.iter().cycle().take(12_000) {
        append(&mut writer, journal, &[1]);
    }
    assert_eq!(number(&writer, "SELECT count(*) FROM places WHERE journal = 1"), 1);
    let unplaced = number(
        &writer,
        "SELECT count(*) FROM events LEFT JOIN places USING (journal, seq) WHERE places.id IS NULL",
    );
    let looked_at = number(&writer, "SELECT count(*) FROM events WHERE id > (SELECT upto FROM placed)");
    assert!(unplaced > 0 && unplaced <= looked_at, "{unplaced} of {looked_at}");
    assert!(looked_at <= 8192 + 1024 + 1, "{looked_at} rows");
}

/// A row that is gone takes its name with it: another of that name would be taken for one that has its place.
#[test]
fn no_row_is_called_what_another_was() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    for round in 0..3 {
        let journal = writer.open("one", Retention::UNLIMITED).unwrap();
        append(&mut writer, &journal, &[1; 100]);
        let first = number(&writer, "SELECT min(id) FROM events");
        assert_eq!(first, 1 + 100 * round);
        assert!(writer.delete("one").unwrap());
        while !writer.doomed.is_empty() {
            writer.bury();
        }
        assert_eq!(
            number(&writer, "SELECT count(*) FROM events") + number(&writer, "SELECT count(*) FROM places"),
            0
        );
    }
}

/// A transaction that failed leaves the rows that waited where they were.
#[test]
fn rows_wait_on_when_a_transaction_fails() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    append(&mut writer, &journal, &[1; 10]);
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    let refused = append(&mut writer, &journal, &[1_000_000]);
    assert!(matches!(refused[..], [Err(Error::Write(_))]), "{refused:?}");
    append(&mut writer, &journal, &[1; 60]);
    let page = ledger::page(&writer.conn, journal.id, Seq::ZERO, Seq::new(100)).unwrap();
    assert_eq!((page.first(), page.len()), (Seq::new(1), 70));
}

/// A journal that nobody holds is closed only when nothing of it is in memory alone.
#[test]
fn a_journal_is_open_while_rows_wait() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    append(&mut writer, &journal, &[1; 10]);
    drop(journal);
    for name in 0..OPEN_MIN * 2 {
        writer.open(&format!("other {name}"), Retention::UNLIMITED).unwrap();
    }
    assert!(writer.open.len() < OPEN_MIN * 2, "none was closed");
    assert_eq!(writer.open("one", Retention::UNLIMITED).unwrap().bounds().events, 10);
}
