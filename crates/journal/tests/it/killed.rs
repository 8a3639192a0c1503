//! Frames that a reader has seen survive `kill -9`.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
};

use journal::{
    Cursor, FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, JournalStore},
};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::backend::run;

/// Set for the child: the file it writes.
const CHILD: &str = "JOURNAL_KILLED_CHILD";
const ROUNDS: u64 = 200;
const APPENDERS: u64 = 3;

/// The writer is killed at 200 random moments; each time every event that its reader had printed is in the file, in order.
#[test]
fn frames_that_a_reader_has_seen_survive_kill_9() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("journal.db");
    let mut state = 1u64;
    let (mut cursor, mut seen) = (None, 0);
    for round in 0..ROUNDS {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        // In some rounds it is killed while it starts.
        let moment = if round % 10 == 0 { 0 } else { (state >> 33) % 60 };
        let printed = killed_after(moment as usize, &path);
        seen += printed.len();
        run(async { cursor = Some(check(&path, cursor, &printed).await) });
    }
    assert!(seen > 1000, "only {seen} events were seen");
}

/// Not a test: the process to kill, when the environment variable is set.
#[test]
#[expect(clippy::disallowed_methods, reason = "the only way to tell the child what it is")]
fn killed_writer_child() {
    if let Some(path) = std::env::var_os(CHILD) {
        run(write_and_print(Path::new(&path)));
    }
}

async fn write_and_print(path: &Path) {
    let store = JournalStore::open(path).unwrap();
    let journal = store.journal("killed", Retention::UNLIMITED).await.unwrap();
    let mut reader = journal.reader(StartPosition::Newest).unwrap();
    let mut appenders = JoinSet::new();
    for appender in 0..APPENDERS {
        appenders.spawn(append_forever(journal.clone(), appender));
    }
    while let Ok(Some(JournalItem::Frames(chunk))) = reader.next().await {
        for (seq, frame) in chunk.frames() {
            let line = format!("seen {seq} {}\n", std::str::from_utf8(&frame).unwrap());
            std::io::stdout().write_all(line.as_bytes()).unwrap();
        }
    }
}

async fn append_forever(journal: DurableJournal, appender: u64) {
    for count in 0u64.. {
        let frame = |part| format!("{}-{appender}-{count}-{part}", std::process::id());
        let frames = (0..count % 3 + 1).map(frame).collect::<FrameBuffer>();
        journal.append(frames).await.unwrap();
    }
}

/// Starts the child, kills it when it has printed so many events, and returns all it printed.
fn killed_after(events: usize, path: &Path) -> Vec<(u64, String)> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::killed_writer_child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut printed = Vec::new();
    while printed.len() < events && read_line(&mut output, &mut printed) {}
    kill(&mut child);
    while read_line(&mut output, &mut printed) {}
    printed
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9),
        "it ended by itself: {status}"
    );
}

fn read_line(output: &mut impl BufRead, printed: &mut Vec<(u64, String)>) -> bool {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    // The last line may have been cut by the kill.
    let whole = line.strip_suffix('\n');
    if let Some((seq, frame)) = whole.and_then(|line| line.strip_prefix("seen ")?.split_once(' ')) {
        printed.push((seq.parse().unwrap(), frame.to_owned()));
    }
    whole.is_some()
}

/// Opens the file again, reads the frames since the last round and checks that all printed ones are there.
async fn check(path: &Path, cursor: Option<Cursor>, printed: &[(u64, String)]) -> Cursor {
    let store = JournalStore::open(path).unwrap();
    let journal = store.journal("killed", Retention::UNLIMITED).await.unwrap();
    let cursor = cursor.unwrap_or(journal.cursor(Seq::ZERO));
    let mut reader =
        journal.reader(StartPosition::After(cursor)).expect("the same epoch, and no frame was lost");
    journal.seal();
    let mut stored = Vec::new();
    while let Some(item) = reader.next().await.unwrap() {
        let JournalItem::Frames(chunk) = item else { panic!("a gap: {item:?}") };
        stored.extend(
            chunk.frames().map(|(seq, frame)| (seq.get(), String::from_utf8(frame.to_vec()).unwrap())),
        );
    }
    let first = cursor.seq.get() + 1;
    for (expected, (seq, _)) in (first..).zip(&stored) {
        assert_eq!(*seq, expected, "a hole");
    }
    if let Some((start, _)) = printed.first() {
        let skipped = (start - first) as usize;
        assert!(stored[skipped..].starts_with(printed), "seen, but not there");
    }
    reader.cursor()
}
