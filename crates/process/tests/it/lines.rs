//! stdout and the end.

use std::time::Duration;

use process::{Exit, SETTLE_IDLE};
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

/// acp #12: the exit is told at once, and never before the last output.
#[tokio::test]
async fn output_that_is_still_in_the_pipe_comes_before_the_end() {
    let mut child = spawn(&python("print('\\n'.join(map(str, range(10000)))); raise SystemExit(3)")).await;
    let lines = all_lines(&mut child.stdout).await;
    assert_eq!(lines.len(), 10_000);
    assert_eq!(lines[9_999], "9999");
    assert_eq!(child.control.exit().unwrap().code, Some(3));
}

/// acp #12: a grandchild that holds the pipes open does not delay the news of the death.
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
