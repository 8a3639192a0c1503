//! stdout and the end.

use std::time::Duration;

use process::{Exit, Limits, Piece, SETTLE_IDLE, SETTLE_MAX};
use tokio::time::Instant;

use crate::support::*;

#[tokio::test]
async fn what_is_sent_is_answered() {
    let mut cat = spawn(&sh("exec cat")).await;
    for text in ["hello", "with end\n", ""] {
        cat.stdin.try_send(text.to_owned().into()).unwrap();
        assert_eq!(one_line(&mut cat.stdout).await, text.trim_end());
    }
    cat.stdin.close();
    assert_eq!(some_lines(&mut cat.stdout).await, None);
    assert_eq!(cat.control.exit(), Some(Exit { code: Some(0), signal: None }));
}

/// acp-12: the exit is told at once, and never before the last output.
#[tokio::test]
async fn output_that_is_still_in_the_pipe_comes_before_the_end() {
    let mut child = spawn(&python("print('\\n'.join(map(str, range(10000)))); raise SystemExit(3)")).await;
    let lines = all_lines(&mut child.stdout).await;
    assert_eq!(lines.len(), 10_000);
    assert_eq!(lines[9_999], "9999");
    assert_eq!(child.control.exit().unwrap().code, Some(3));
}

/// acp-12: not even when the exit is known long before anyone reads, and the pipe is as large as it can be.
#[tokio::test]
async fn output_of_the_dead_is_delivered_to_a_slow_reader() {
    let script = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, (b'x' * 999 + b'\\n') * 900)";
    let mut child = spawn(&python(script)).await;
    assert_eq!(within(PATIENCE, child.control.wait()).await.code, Some(0));
    let mut lines = 0;
    while let Some(some) = some_lines(&mut child.stdout).await {
        lines += some.len();
        tokio::time::sleep(SETTLE_MAX / 4).await; // Slower than everyone who is waited for.
    }
    assert_eq!(lines, 900);
}

/// acp-12: a grandchild that holds the pipes open does not delay the news of the death.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_does_not_hide_the_end() {
    let mut child = spawn(&sh("sleep 60 & echo parting; echo why >&2")).await;
    assert_eq!(one_line(&mut child.stdout).await, "parting");
    let last_output = Instant::now();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    let told = last_output.elapsed();
    println!("death told after {told:?}");
    assert!(told < SETTLE_IDLE + Duration::from_millis(500), "{told:?}");
    assert_eq!(child.control.stderr_tail(), "why");
    within(PATIENCE, child.control.stop()).await;
}

/// acp-12: nor does one that goes on writing, slowly or as fast as it can.
#[tokio::test]
async fn a_grandchild_that_goes_on_writing_does_not_hide_the_end() {
    for writer in ["while sleep 0.005; do echo more; done", "exec yes"] {
        let mut child = spawn(&sh(&format!("({writer}) & exit 7"))).await;
        let control = child.control.clone();
        within(PATIENCE, control.wait()).await;
        let exited = Instant::now();
        while within(PATIENCE, child.stdout.next()).await.is_some() {}
        let told = exited.elapsed();
        println!("end told after {told:?} with `{writer}`");
        assert!(told < SETTLE_MAX + Duration::from_secs(1), "{told:?}");
        assert_eq!(control.exit().unwrap().code, Some(7));
        within(PATIENCE, control.stop()).await;
    }
}

/// A child may close its stdout and live on: the end is its exit.
#[tokio::test]
async fn the_end_is_told_only_when_the_process_has_exited() {
    let mut child = spawn(&sh("exec >&-; read line; exit 5")).await;
    let early = tokio::time::timeout(Duration::from_millis(100), child.stdout.next()).await;
    assert!(early.is_err(), "the end was told while the process ran");
    child.stdin.try_send("go".into()).unwrap();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    assert_eq!(child.control.exit().unwrap().code, Some(5));
}

/// acp-13: any bytes arrive as they were written.
#[tokio::test]
async fn what_is_not_text_arrives_unchanged() {
    let script = "import os; os.write(1, b'\\xff\\0\\xc3\\n\\ra\\rb\\r\\n\\xf0\\x9f'); os.write(1, b'\\x98\\x80 last')";
    let mut child = spawn(&python(script)).await;
    let mut all = Vec::new();
    while let Some(chunk) = within(PATIENCE, child.stdout.next()).await {
        all.extend(chunk.map(|piece| match piece {
            Piece::Line(line) => line.to_vec(),
            Piece::TooLong { .. } => panic!("nothing here is long"),
        }));
    }
    assert_eq!(all, [&b"\xff\0\xc3"[..], b"\ra\rb", "😀 last".as_bytes()]);
}

/// acp-13: a line within the limit is delivered whole, one above it is dropped and told, and the next one arrives.
#[tokio::test]
async fn long_lines_are_delivered_up_to_the_limit() {
    let script = "import sys\nfor mb in (20, 70): sys.stdout.write('x' * mb * 10**6 + '\\nnext\\n')";
    let mut child = spawn(&python(script)).await;
    let mut told = Vec::new();
    let before = resident_kib();
    let mut most = 0;
    while let Some(chunk) = within(PATIENCE, child.stdout.next()).await {
        told.extend(chunk.map(|piece| match piece {
            Piece::Line(line) if line.len() < 10 => String::from_utf8(line.to_vec()).unwrap(),
            Piece::Line(line) => format!("{} bytes", line.len()),
            Piece::TooLong { bytes } => format!("{bytes} too many"),
        }));
        most = most.max(resident_kib());
    }
    assert_eq!(told, ["20000000 bytes", "next", "70000000 too many", "next"]);
    println!(
        "resident {before} KiB before, {most} KiB at most when a line was told, {} KiB after",
        resident_kib()
    );
}

/// acp-13: the limit is the caller's.
#[tokio::test]
async fn a_small_limit_holds() {
    let limits = Limits { line_bytes_max: 1000, ..Limits::default() };
    let script = "print('x' * 1000); print('y' * 1001); print('z' * 10**6); print('end')";
    let mut child = spawn(&python(script).limits(limits)).await;
    let lines = all_lines(&mut child.stdout).await;
    assert_eq!(lines, [&"x".repeat(1000), "<too long: 1001>", "<too long: 1000000>", "end"]);
}

/// `next` may be dropped at any moment, as `select!` does, and nothing is lost.
#[tokio::test]
async fn asking_for_lines_can_be_cancelled() {
    let script =
        "import sys, time\nfor i in range(300): sys.stdout.write(f'{i:05}'); time.sleep(.001); print()";
    let mut child = spawn(&python(script)).await;
    let mut lines = Vec::new();
    let read = async {
        loop {
            match tokio::time::timeout(Duration::from_micros(300), child.stdout.next()).await {
                Ok(Some(chunk)) => lines.extend(chunk.map(|piece| match piece {
                    Piece::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                    Piece::TooLong { .. } => panic!("nothing here is long"),
                })),
                Ok(None) => break,
                Err(_cancelled) => {}
            }
        }
    };
    within(PATIENCE, read).await;
    assert_eq!(lines, (0..300).map(|i| format!("{i:05}")).collect::<Vec<_>>());
}
