//! The bounded way in.

use bytes::Bytes;
use process::{Limits, SendError};

use crate::support::*;

/// acp-14: a child that stops reading makes the queue full; nobody waits and memory stays bounded.
#[tokio::test]
async fn a_child_that_does_not_read_is_busy() {
    let child = spawn(&sh("sleep 600")).await;
    let message = Bytes::from(vec![b'x'; 10_000]);
    let mut taken = 0;
    while child.stdin.try_send(message.clone()) == Ok(()) {
        taken += 1;
        assert!(taken < 10_000, "the queue takes anything");
        tokio::task::yield_now().await;
    }
    assert_eq!(child.stdin.try_send(message), Err(SendError::Full));
    // The queue, the pipe and what is being written.
    assert!((100..=120).contains(&taken), "{taken} messages of 10 kB were taken");
    within(PATIENCE, child.control.stop()).await;
    assert_eq!(child.stdin.try_send("late".into()), Err(SendError::Closed));
}

/// acp-14: many small ones are bounded too.
#[tokio::test]
async fn messages_are_counted_whatever_their_size() {
    let limits = Limits { stdin_queue_max: 8, ..Limits::default() };
    let child = spawn(&sh("sleep 600").limits(limits)).await;
    // Nothing is written before this task yields.
    let taken = (0..100).filter(|_| child.stdin.try_send(Bytes::new()).is_ok()).count();
    assert_eq!(taken, 8);
}

/// acp-14: once the child reads again there is room again, and nothing was lost or torn.
#[tokio::test]
async fn a_child_that_reads_again_is_no_longer_busy() {
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

/// A message larger than the whole queue passes when nothing else waits.
#[tokio::test]
async fn one_large_message_is_always_taken() {
    let mut child = spawn(&python("import sys; print(len(sys.stdin.readline()))")).await;
    child.stdin.try_send(vec![b'x'; 8 << 20].into()).unwrap();
    assert_eq!(child.stdin.try_send("y".into()), Err(SendError::Full));
    assert_eq!(one_line(&mut child.stdout).await, ((8 << 20) + 1).to_string());
}

#[tokio::test]
async fn a_child_that_closes_its_stdin_is_told_as_closed() {
    let mut child = spawn(&sh("exec <&-; echo closed; exec sleep 600")).await;
    assert_eq!(one_line(&mut child.stdout).await, "closed");
    until(PATIENCE, "EPIPE closes the queue", || {
        child.stdin.try_send("anyone?".into()) == Err(SendError::Closed)
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

/// What was written makes room: far more than the limits may pass through the queue.
#[tokio::test]
async fn the_limits_are_about_what_waits() {
    let mut cat = spawn(&sh("exec cat")).await;
    for _ in 0..1200 {
        cat.stdin.try_send(vec![b'x'; 1000].into()).unwrap();
        assert_eq!(one_line(&mut cat.stdout).await.len(), 1000);
    }
}

/// acp-12: nothing is sent to the dead, even if someone else holds their stdin.
#[tokio::test]
async fn stdin_is_closed_when_the_child_has_exited() {
    let child = spawn(&sh("sleep 600 <&0 & exit 0")).await;
    within(PATIENCE, child.control.wait()).await;
    assert_eq!(child.stdin.try_send("anyone?".into()), Err(SendError::Closed));
}
