//! Reading stdout to its end.

use std::time::Duration;

use process::{ChildExit, FramedLine, ProcessLimits, SETTLE_IDLE, SETTLE_MAX};
use tokio::time::Instant;

use crate::support::*;

#[tokio::test]
async fn messages_and_answers_are_lines() {
    let mut cat = spawn(&sh("exec cat")).await;
    for text in ["hello", "with end\n", ""] {
        cat.stdin.try_send(text.to_owned().into()).unwrap();
        assert_eq!(one_line(&mut cat.stdout).await, text.trim_end());
    }
    cat.stdin.close();
    assert_eq!(some_lines(&mut cat.stdout).await, None);
    assert_eq!(cat.control.exit(), Some(ChildExit { code: Some(0), signal: None }));
}

/// acp-12: the exit is reported at once, but never before the last output.
#[tokio::test]
async fn output_left_in_the_pipe_is_returned_before_the_end() {
    let mut child = spawn(&python("print('\\n'.join(map(str, range(10000)))); raise SystemExit(3)")).await;
    let lines = all_lines(&mut child.stdout).await;
    assert_eq!(lines.len(), 10_000);
    assert_eq!(lines[9_999], "9999");
    assert_eq!(child.control.exit().unwrap().code, Some(3));
}

/// acp-12: this holds even when the exit is known long before the reads, with a pipe of maximum size.
#[tokio::test]
async fn a_slow_reader_gets_the_output_of_an_exited_child() {
    let script = "import fcntl, os; fcntl.fcntl(1, 1031, 1 << 20); os.write(1, (b'x' * 999 + b'\\n') * 900)";
    let mut child = spawn(&python(script)).await;
    assert_eq!(within(PATIENCE, child.control.wait()).await.code, Some(0));
    let mut lines = 0;
    while let Some(some) = some_lines(&mut child.stdout).await {
        lines += some.len();
        tokio::time::sleep(SETTLE_MAX / 4).await; // Slower than the settling time.
    }
    assert_eq!(lines, 900);
}

/// acp-12: a grandchild that holds the pipes open does not delay the report of the exit.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_does_not_hide_the_end() {
    let mut child = spawn(&sh("sleep 60 & echo parting; echo why >&2")).await;
    assert_eq!(one_line(&mut child.stdout).await, "parting");
    let last_output = Instant::now();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    let elapsed = last_output.elapsed();
    println!("exit reported after {elapsed:?}");
    assert!(elapsed < SETTLE_IDLE + Duration::from_millis(500), "{elapsed:?}");
    assert_eq!(child.control.stderr_tail(), "why");
    within(PATIENCE, child.control.stop()).await;
}

/// acp-12: neither does one that continues to write, slowly or quickly.
#[tokio::test]
async fn a_grandchild_that_continues_to_write_does_not_hide_the_end() {
    for writer in ["while sleep 0.005; do echo more; done", "exec yes"] {
        let mut child = spawn(&sh(&format!("({writer}) & exit 7"))).await;
        let control = child.control.clone();
        within(PATIENCE, control.wait()).await;
        let exited = Instant::now();
        while within(PATIENCE, child.stdout.next()).await.is_some() {}
        let elapsed = exited.elapsed();
        println!("end reported after {elapsed:?} with `{writer}`");
        assert!(elapsed < SETTLE_MAX + Duration::from_secs(1), "{elapsed:?}");
        assert_eq!(control.exit().unwrap().code, Some(7));
        within(PATIENCE, control.stop()).await;
    }
}

/// A child may close its stdout and continue to run: the end comes with its exit.
#[tokio::test]
async fn the_end_comes_only_after_the_exit() {
    let mut child = spawn(&sh("exec >&-; read line; exit 5")).await;
    let early = tokio::time::timeout(Duration::from_millis(100), child.stdout.next()).await;
    assert!(early.is_err(), "the end came while the process ran");
    child.stdin.try_send("go".into()).unwrap();
    assert_eq!(some_lines(&mut child.stdout).await, None);
    assert_eq!(child.control.exit().unwrap().code, Some(5));
}

/// acp-13: all bytes arrive unchanged.
#[tokio::test]
async fn invalid_utf8_arrives_unchanged() {
    let script = "import os; os.write(1, b'\\xff\\0\\xc3\\n\\ra\\rb\\r\\n\\xf0\\x9f'); os.write(1, b'\\x98\\x80 last')";
    let mut child = spawn(&python(script)).await;
    let mut all = Vec::new();
    while let Some(chunk) = within(PATIENCE, child.stdout.next()).await {
        all.extend(chunk.map(|piece| match piece {
            FramedLine::Line(line) => line.to_vec(),
            FramedLine::TooLong { .. } => panic!("nothing here is long"),
        }));
    }
    assert_eq!(all, [&b"\xff\0\xc3"[..], b"\ra\rb", "😀 last".as_bytes()]);
}

/// acp-13: a line within the limit is returned, a longer one is discarded and reported, and the next one arrives.
#[tokio::test]
async fn lines_are_returned_up_to_the_limit() {
    let script = "import sys\nfor mb in (20, 70): sys.stdout.write('x' * mb * 10**6 + '\\nnext\\n')";
    let mut child = spawn(&python(script)).await;
    let mut received = Vec::new();
    let before = resident_kib();
    let mut most = 0;
    while let Some(chunk) = within(PATIENCE, child.stdout.next()).await {
        received.extend(chunk.map(|piece| match piece {
            FramedLine::Line(line) if line.len() < 10 => String::from_utf8(line.to_vec()).unwrap(),
            FramedLine::Line(line) => format!("{} bytes", line.len()),
            FramedLine::TooLong { bytes } => format!("{bytes} too many"),
        }));
        most = most.max(resident_kib());
    }
    assert_eq!(received, ["20000000 bytes", "next", "70000000 too many", "next"]);
    println!(
        "resident {before} KiB before, {most} KiB at most when a line was returned, {} KiB after",
        resident_kib()
    );
}

/// acp-13: the caller sets the limit.
#[tokio::test]
async fn a_small_limit_applies() {
    let limits = ProcessLimits { line_bytes_max: 1000, ..ProcessLimits::default() };
    let script = "print('x' * 1000); print('y' * 1001); print('z' * 10**6); print('end')";
    let mut child = spawn(&python(script).limits(limits)).await;
    let lines = all_lines(&mut child.stdout).await;
    assert_eq!(lines, [&"x".repeat(1000), "<too long: 1001>", "<too long: 1000000>", "end"]);
}

/// The future of `next` may be dropped at any moment, as `select!` does, without losing output.
#[tokio::test]
async fn reading_lines_is_cancel_safe() {
    let script =
        "import sys, time\nfor i in range(300): sys.stdout.write(f'{i:05}'); time.sleep(.001); print()";
    let mut child = spawn(&python(script)).await;
    let mut lines = Vec::new();
    let read = async {
        loop {
            match tokio::time::timeout(Duration::from_micros(300), child.stdout.next()).await {
                Ok(Some(chunk)) => lines.extend(chunk.map(|piece| match piece {
                    FramedLine::Line(line) => String::from_utf8(line.to_vec()).unwrap(),
                    FramedLine::TooLong { .. } => panic!("nothing here is long"),
                })),
                Ok(None) => break,
                Err(_cancelled) => {}
            }
        }
    };
    within(PATIENCE, read).await;
    assert_eq!(lines, (0..300).map(|i| format!("{i:05}")).collect::<Vec<_>>());
}
