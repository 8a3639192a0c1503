//! The bounded stdin queue.

use bytes::Bytes;
use process::{ProcessLimits, StdinSendError};

use crate::support::*;

/// acp-14: when a child stops reading, the queue fills up; senders do not block, and memory stays bounded.
#[tokio::test]
async fn the_queue_is_full_when_the_child_does_not_read() {
    let child = spawn(&sh("sleep 600")).await;
    let message = Bytes::from(vec![b'x'; 10_000]);
    let mut taken = 0;
    while child.stdin.try_send(message.clone()) == Ok(()) {
        taken += 1;
        assert!(taken < 10_000, "the queue has no limit");
        tokio::task::yield_now().await;
    }
    assert_eq!(child.stdin.try_send(message), Err(StdinSendError::Full));
    // The queue, the pipe and the messages being written.
    assert!((100..=120).contains(&taken), "{taken} messages of 10 kB were taken");
    within(PATIENCE, child.control.stop()).await;
    assert_eq!(child.stdin.try_send("late".into()), Err(StdinSendError::Closed));
}

/// acp-14: many small messages are limited too.
#[tokio::test]
async fn the_number_of_messages_is_limited() {
    let limits = ProcessLimits { stdin_queue_max: 8, ..ProcessLimits::default() };
    let child = spawn(&sh("sleep 600").limits(limits)).await;
    // Nothing is written before this task yields.
    let taken = (0..100).filter(|_| child.stdin.try_send(Bytes::new()).is_ok()).count();
    assert_eq!(taken, 8);
}

/// acp-14: once the child reads again there is room again, and no message was lost or split.
#[tokio::test]
async fn the_queue_empties_when_the_child_reads_again() {
    let script = "import sys, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [10])\n\
                  print('ready'); signal.sigwait([10])\n\
                  for line in sys.stdin: print(len(line), line[:6])";
    let mut child = spawn(&python(script)).await;
    assert_eq!(one_line(&mut child.stdout).await, "ready");
    let mut sent = 0;
    while child.stdin.try_send(format!("{sent:06}{}", "x".repeat(sent * 7 % 5000)).into()).is_ok() {
        sent += 1;
        tokio::task::yield_now().await;
    }
    child.control.signal(process::Signal::USR1).unwrap();
    child.stdin.close();
    let lines = all_lines(&mut child.stdout).await;
    let expected: Vec<_> = (0..sent).map(|i| format!("{} {i:06}", 7 + i * 7 % 5000)).collect();
    assert_eq!(lines, expected);
}

/// A message larger than the whole queue is accepted when the queue is empty.
#[tokio::test]
async fn one_large_message_is_always_accepted() {
    let mut child = spawn(&python("import sys; print(len(sys.stdin.readline()))")).await;
    child.stdin.try_send(vec![b'x'; 8 << 20].into()).unwrap();
    assert_eq!(child.stdin.try_send("y".into()), Err(StdinSendError::Full));
    assert_eq!(one_line(&mut child.stdout).await, ((8 << 20) + 1).to_string());
}

#[tokio::test]
async fn sending_fails_after_the_child_closed_its_stdin() {
    let mut child = spawn(&sh("exec <&-; echo closed; exec sleep 600")).await;
    assert_eq!(one_line(&mut child.stdout).await, "closed");
    until(PATIENCE, "EPIPE closes the queue", || {
        child.stdin.try_send("anyone?".into()) == Err(StdinSendError::Closed)
    })
    .await;
    assert_eq!(child.control.exit(), None);
}

#[tokio::test]
async fn dropping_the_last_stdin_ends_the_input() {
    let mut child = spawn(&sh("cat; echo end")).await;
    child.stdin.clone().try_send("kept".into()).unwrap();
    drop(child.stdin);
    assert_eq!(all_lines(&mut child.stdout).await, ["kept", "end"]);
}

/// Written messages make room: far more than the limit passes through the queue over time.
#[tokio::test]
async fn the_limits_apply_to_queued_messages_only() {
    let mut cat = spawn(&sh("exec cat")).await;
    for _ in 0..1200 {
        cat.stdin.try_send(vec![b'x'; 1000].into()).unwrap();
        assert_eq!(one_line(&mut cat.stdout).await.len(), 1000);
    }
}

/// acp-12: nothing is sent after the exit, even if another process holds the stdin open.
#[tokio::test]
async fn stdin_is_closed_when_the_child_has_exited() {
    let child = spawn(&sh("sleep 600 <&0 & exit 0")).await;
    within(PATIENCE, child.control.wait()).await;
    assert_eq!(child.stdin.try_send("anyone?".into()), Err(StdinSendError::Closed));
}
