use tokio::sync::oneshot;

use super::*;
use crate::{
    FrameBuffer, Seq,
    durable::{RecordUpdate, schema},
};

fn writer(dir: &tempfile::TempDir) -> WriterThread {
    let path = dir.path().join("journal.db");
    let conn = schema::open(&path, crate::durable::SyncMode::Normal).unwrap();
    let (_queue, _closer, requests) = crate::durable::queue::queue();
    let row_index = RowIndex::open(&conn).unwrap();
    let (signal, metrics) = (Arc::default(), JournalMetrics::default());
    let reserve = DiskReserve::open(&path, &conn, crate::durable::disk_reserve::LowFlag::default()).unwrap();
    WriterThread::new(WriterParts { conn, reserve, row_index, requests, signal, metrics })
}

/// Appends frames of these sizes as one group; returns the number of each.
fn append(writer: &mut WriterThread, journal: &Arc<JournalView>, sizes: &[usize]) -> Vec<Result<Seq, Error>> {
    let (mut group, mut answers) = (Vec::new(), Vec::new());
    for &size in sizes {
        let (reply, answer) = oneshot::channel();
        group.push(AppendRequest {
            journal: Arc::clone(journal),
            frames: FrameBuffer::one(vec![0; size]),
            records: Vec::new(),
            reply,
        });
        answers.push(answer);
    }
    writer.append(&mut group);
    answers.into_iter().map(|mut answer| answer.try_recv().unwrap().map(|range| *range.start())).collect()
}

/// A full disk fails the whole group; readers see nothing of it, and it leaves no hole in the numbers.
#[test]
fn a_failed_group_leaves_no_trace() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    assert!(matches!(append(&mut writer, &journal, &[1, 1])[..], [Ok(one), Ok(_)] if one == Seq::new(1)));
    let before = journal.bounds();
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    let refused = append(&mut writer, &journal, &[1, 2_000_000]);
    assert!(matches!(refused[..], [Err(Error::Write(_)), Err(Error::Write(_))]), "{refused:?}");
    assert_eq!((journal.bounds(), journal.tail.bounds().newest), (before, before.newest));
    assert!(matches!(append(&mut writer, &journal, &[1])[..], [Ok(three)] if three == Seq::new(3)));
}

/// A record is written together with its frames or not at all, and is removed with its journal.
#[test]
fn records_and_frames_are_committed_together() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    let append_with = |writer: &mut WriterThread, bytes: usize, update: RecordUpdate| {
        let (reply, mut answer) = oneshot::channel();
        let (journal, frames) = (Arc::clone(&journal), FrameBuffer::one(vec![0; bytes]));
        writer.append(&mut vec![AppendRequest { journal, frames, records: vec![update], reply }]);
        answer.try_recv().unwrap().is_ok()
    };
    let stored = |writer: &WriterThread| record::find(&writer.conn, 1, "state", "k").unwrap();
    assert!(append_with(&mut writer, 1, RecordUpdate::put("state", "k", "first")));
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    assert!(!append_with(&mut writer, 2_000_000, RecordUpdate::put("state", "k", "second")));
    assert_eq!(stored(&writer).unwrap(), "first");
    assert!(append_with(&mut writer, 1, RecordUpdate::delete("state", "k")));
    assert_eq!(stored(&writer), None);
    assert!(append_with(&mut writer, 1, RecordUpdate::put("state", "k", "third")));
    writer.delete("one").unwrap();
    while !writer.deleted.is_empty() {
        writer.purge_deleted();
    }
    assert_eq!(stored(&writer), None);
}

/// When many journals are open, those without handles are closed; those with handles never are.
#[test]
fn journals_without_handles_are_closed() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let held = writer.open("held", Retention::UNLIMITED).unwrap();
    for name in 0..OPEN_MIN * 2 {
        writer.open(&name.to_string(), Retention::UNLIMITED).unwrap();
    }
    assert!(writer.open.len() <= OPEN_MIN + 1, "{} are open", writer.open.len());
    assert!(writer.open.contains_key(&held.id));
}

fn number(writer: &WriterThread, query: &str) -> i64 {
    writer.conn.query_row(query, [], |row| row.get(0)).unwrap()
}

/// Rows that were not indexed when the process ended are indexed and read when the file is opened again.
#[test]
fn unindexed_rows_survive_a_crash() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut first = writer(&dir);
    let journal = first.open("one", Retention::UNLIMITED).unwrap();
    for _ in 0..10 {
        append(&mut first, &journal, &[7]);
    }
    assert_eq!(number(&first, "SELECT count(*) FROM places"), 0, "they were indexed one by one");
    drop(first);
    let mut again = writer(&dir);
    let journal = again.open("one", Retention::UNLIMITED).unwrap();
    assert_eq!((journal.bounds().events, journal.bounds().bytes), (10, 70));
    let page = event_rows::load_page(&again.conn, journal.id, Seq::new(3), Seq::new(10)).unwrap();
    assert_eq!((page.first(), page.len()), (Seq::new(4), 7));
}

/// However many journals there are and however rarely each is written to, a start after a crash scans only the newest rows.
#[test]
fn every_row_is_indexed_after_a_bounded_number_of_rows() {
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
    let unindexed = number(
        &writer,
        "SELECT count(*) FROM events LEFT JOIN places USING (journal, seq) WHERE places.id IS NULL",
    );
    let scanned = number(&writer, "SELECT count(*) FROM events WHERE id > (SELECT upto FROM placed)");
    assert!(unindexed > 0 && unindexed <= scanned, "{unindexed} of {scanned}");
    assert!(scanned <= 8192 + 1024 + 1, "{scanned} rows");
}

/// The id of a removed row is not reused: a new row with that id would be taken for an indexed one.
#[test]
fn row_ids_are_never_reused() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    for round in 0..3 {
        let journal = writer.open("one", Retention::UNLIMITED).unwrap();
        append(&mut writer, &journal, &[1; 100]);
        let first = number(&writer, "SELECT min(id) FROM events");
        assert_eq!(first, 1 + 100 * round);
        assert!(writer.delete("one").unwrap());
        while !writer.deleted.is_empty() {
            writer.purge_deleted();
        }
        assert_eq!(
            number(&writer, "SELECT count(*) FROM events") + number(&writer, "SELECT count(*) FROM places"),
            0
        );
    }
}

/// A failed transaction does not lose track of unindexed rows.
#[test]
fn unindexed_rows_survive_a_failed_transaction() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut writer = writer(&dir);
    let journal = writer.open("one", Retention::UNLIMITED).unwrap();
    append(&mut writer, &journal, &[1; 10]);
    writer.conn.pragma_update(None, "max_page_count", 20).unwrap();
    let refused = append(&mut writer, &journal, &[2_000_000]);
    assert!(matches!(refused[..], [Err(Error::Write(_))]), "{refused:?}");
    append(&mut writer, &journal, &[1; 60]);
    let page = event_rows::load_page(&writer.conn, journal.id, Seq::ZERO, Seq::new(100)).unwrap();
    assert_eq!((page.first(), page.len()), (Seq::new(1), 70));
}

/// A journal without handles stays open while readers find some of its rows only in memory.
#[test]
fn a_journal_with_unindexed_rows_stays_open() {
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
