use std::fs;

use jiff::Timestamp;
use protocol::relay::{Family, PolicyDecision, RequestStatus};
use serde_json::{Map, Value};

use super::*;

fn entry(id: &str, ended: bool) -> RelayAuditEntry {
    RelayAuditEntry {
        id: id.into(),
        connection_id: "c".into(),
        client_id: "laptop".parse().unwrap(),
        method: "file.read".into(),
        session_id: None,
        run_id: None,
        tool_call_id: None,
        capability: Some(Family::Fileops),
        policy_decision: PolicyDecision::Allowed,
        started_at: Timestamp::now(),
        completed_at: ended.then(Timestamp::now),
        status: ended.then_some(RequestStatus::Succeeded),
        error: None,
        root_id: None,
        virtual_path: None,
        summary: Map::new(),
        seq: None,
        prev_hash: None,
        hash: None,
    }
}

fn open(directory: &Path, kept: Kept) -> Result<Ledger, LedgerError> {
    Ledger::open(directory, "laptop".parse().unwrap(), kept)
}

fn stage(entry: &RelayAuditEntry) -> Stage {
    if entry.completed_at.is_some() { Stage::End } else { Stage::Begin }
}

async fn write(ledger: &Ledger, entry: RelayAuditEntry) -> Result<(), Unwritten> {
    ledger.write(stage(&entry), &RequestMark::default(), entry).await
}

async fn post(ledger: &Ledger, entry: RelayAuditEntry) -> Result<(), Unwritten> {
    ledger.post(stage(&entry), &RequestMark::default(), entry).await
}

fn verified(directory: &Path) -> Result<Verified, Unreadable> {
    verify(Entries::read(directory)?)
}

/// relay-154: it goes on after a restart, and what did not end is seen.
#[tokio::test]
async fn a_record_goes_on_where_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = open(directory.path(), Kept::default()).unwrap();
    assert_eq!(ledger.head(), None);
    write(&ledger, entry("a", false)).await.unwrap();
    write(&ledger, entry("a", true)).await.unwrap();
    ledger.close().await;
    assert_eq!(write(&ledger, entry("x", false)).await, Err(Unwritten));
    let ledger = open(directory.path(), Kept::default()).unwrap();
    write(&ledger, entry("b", false)).await.unwrap();
    let verified = verified(directory.path()).unwrap();
    assert_eq!((verified.first, verified.unfinished), (Some(1), 1));
    assert_eq!(verified.head, ledger.head());
    assert_eq!(verified.head.unwrap().seq, 3);
}

/// relay-154: an entry that was waited for is in the file, whatever ends the process; half a line is cut off.
#[tokio::test]
async fn a_line_that_was_not_finished_is_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = open(directory.path(), Kept::default()).unwrap();
    for id in ["a", "b"] {
        write(&ledger, entry(id, true)).await.unwrap();
    }
    // Nobody closed it.
    let path = ledger.path().to_owned();
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 10]).unwrap();
    assert_eq!(verified(directory.path()).unwrap().head.unwrap().seq, 1);
    let again = open(directory.path(), Kept::default()).unwrap();
    write(&again, entry("c", true)).await.unwrap();
    assert_eq!(verified(directory.path()).unwrap().head.unwrap().seq, 2);
}

/// Files are put aside when they are full, the oldest are deleted, and what is left holds.
#[tokio::test]
async fn a_record_is_bounded_and_stays_a_chain() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Kept { file_bytes_max: 2000, files_max: 3, young: Duration::ZERO, ..Kept::default() };
    let mut ledger = open(directory.path(), kept).unwrap();
    for number in 0..60 {
        if number == 30 {
            ledger.close().await;
            ledger = open(directory.path(), kept).unwrap();
        }
        write(&ledger, entry(&number.to_string(), true)).await.unwrap();
    }
    ledger.close().await;
    let files: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    let verified = verified(directory.path()).unwrap();
    assert!(verified.first.unwrap() > 1, "{verified:?}");
    assert_eq!(verified.head.unwrap().seq, 60);
}

/// relay-154: whoever asks for a lot cannot have forgotten what they asked for, until there is far too much of it.
#[tokio::test]
async fn what_is_young_is_kept_within_a_larger_limit() {
    let kept = Kept { file_bytes_max: 2000, files_max: 3, ..Kept::default() };
    for (bytes_max, keeps_all) in [(1 << 20, true), (12_000, false)] {
        let directory = tempfile::tempdir().unwrap();
        let ledger = open(directory.path(), Kept { bytes_max, ..kept }).unwrap();
        for number in 0..60 {
            write(&ledger, entry(&number.to_string(), true)).await.unwrap();
        }
        ledger.close().await;
        let sizes: Vec<u64> = fs::read_dir(directory.path())
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .collect();
        assert!(sizes.len() > kept.files_max && sizes.iter().sum::<u64>() <= bytes_max, "{sizes:?}");
        let verified = verified(directory.path()).unwrap();
        assert_eq!((verified.first == Some(1), verified.head.unwrap().seq), (keeps_all, 60));
    }
}

/// relay-154: "a verify command that names the first broken entry".
#[tokio::test]
async fn a_record_that_was_changed_says_where() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = open(directory.path(), Kept::default()).unwrap();
    for id in ["a", "b", "c"] {
        write(&ledger, entry(id, true)).await.unwrap();
    }
    ledger.close().await;
    let text = fs::read_to_string(ledger.path()).unwrap();
    fs::write(ledger.path(), text.replacen("\"id\":\"b\"", "\"id\":\"B\"", 1)).unwrap();
    let broken = verified(directory.path()).unwrap_err();
    assert_eq!(broken.to_string(), "the hash chain of the audit log is broken at entry 2: it was changed");
    let without: Vec<_> = text.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| line).collect();
    fs::write(ledger.path(), without.join("\n") + "\n").unwrap();
    assert!(verified(directory.path()).unwrap_err().to_string().contains("entry 2"));
    fs::write(ledger.path(), "{}\nno entry\n").unwrap();
    assert!(matches!(open(directory.path(), Kept::default()), Err(LedgerError::Broken { .. })));
}

/// The record may be read while it is written, and put aside meanwhile.
#[tokio::test]
async fn who_reads_while_it_is_written_sees_a_chain() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Kept { file_bytes_max: 10_000, files_max: 4, young: Duration::ZERO, ..Kept::default() };
    let ledger = open(directory.path(), kept).unwrap();
    let mut reading = tokio::task::JoinSet::new();
    let place = directory.path().to_owned();
    reading.spawn_blocking(move || {
        (0..200).map(|_| verified(&place).unwrap().head.map_or(0, |head| head.seq)).max()
    });
    let mut number = 0;
    let most = loop {
        write(&ledger, entry(&number.to_string(), true)).await.unwrap();
        number += 1;
        if let Some(most) = reading.try_join_next() {
            break most.unwrap();
        }
    };
    assert!(most.unwrap() > 0);
}

/// Many at once are in one order, and none is lost.
#[tokio::test]
async fn many_may_write_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = open(directory.path(), Kept::default()).unwrap();
    let mut writing = tokio::task::JoinSet::new();
    for number in 0..1000 {
        let ledger = ledger.clone();
        writing.spawn(async move { write(&ledger, entry(&number.to_string(), number % 2 == 0)).await });
    }
    while let Some(written) = writing.join_next().await {
        written.unwrap().unwrap();
    }
    let verified = verified(directory.path()).unwrap();
    assert_eq!((verified.head.unwrap().seq, verified.unfinished), (1000, 500));
    let lines = fs::read_to_string(ledger.path()).unwrap();
    assert!(lines.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

/// relay-151, relay-154: what nobody waits for is in the file soon, in order, and before what somebody waits for after it.
#[tokio::test]
async fn what_nobody_waits_for_is_written_too() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = open(directory.path(), Kept::default()).unwrap();
    let ids = || -> Vec<String> {
        let entries = Entries::read(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap()["id"].as_str().unwrap().to_owned());
        entries.collect()
    };
    for number in 0..3 {
        post(&ledger, entry(&number.to_string(), true)).await.unwrap();
    }
    write(&ledger, entry("waited", true)).await.unwrap();
    assert_eq!(ids(), ["0", "1", "2", "waited"]);
    post(&ledger, entry("late", true)).await.unwrap();
    let written = async {
        while ids().len() < 5 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), written).await.unwrap();
    for number in 0..1000 {
        post(&ledger, entry(&format!("many{number}"), true)).await.unwrap();
    }
    ledger.close().await;
    assert_eq!(verified(directory.path()).unwrap().head.unwrap().seq, 1005);
    assert_eq!(post(&ledger, entry("x", false)).await, Err(Unwritten));
}

/// relay-154: while the next file cannot be begun nothing may begin, and what was begun has its end on record.
#[tokio::test]
async fn nothing_begins_while_the_next_file_cannot_be_begun() {
    let directory = tempfile::tempdir().unwrap();
    let kept = Kept { file_bytes_max: 1, ..Kept::default() };
    let ledger = open(directory.path(), kept).unwrap();
    let mark = RequestMark::default();
    // Where the next file is to be.
    fs::create_dir(pages::next(directory.path())).unwrap();
    ledger.write(Stage::Begin, &mark, entry("a", false)).await.unwrap();
    assert_eq!(write(&ledger, entry("b", false)).await, Err(Unwritten));
    assert_eq!(post(&ledger, entry("c", false)).await, Err(Unwritten));
    ledger.write(Stage::End, &mark, entry("a", true)).await.unwrap();
    fs::remove_dir(pages::next(directory.path())).unwrap();
    assert_eq!(post(&ledger, entry("d", false)).await, Ok(()));
    ledger.close().await;
    assert_eq!(verified(directory.path()).unwrap().head.unwrap().seq, 3);
}

/// The reserve holds every entry that can still come when a request is refused for lack of space.
#[test]
fn the_reserve_is_large_enough() {
    const ENTRY_BYTES_MAX: u64 = 8 << 10;
    assert!(ENDS_MAX as u64 * ENTRY_BYTES_MAX <= reserved_file::RESERVE_BYTES / 4 * 3);
}
