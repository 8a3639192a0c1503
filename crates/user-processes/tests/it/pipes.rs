//! daemon-13: "logs with follow, input": a process on pipes.

use std::time::Duration;

use bytes::Bytes;
use journal::Seq;
use protocol::processes::{OutputStream, ProcessState};
use user_processes::{Error, LogItem, PAGE_BYTES_MAX, ProcessEvent};

use crate::support::*;

#[tokio::test]
async fn both_streams_and_the_end_are_followed_in_order() {
    let processes = processes();
    let id = start(&processes, sh("read a; echo out; read b; echo err >&2; read c; exit 3")).await;
    let mut follower = processes.follow(id, None).unwrap();
    processes.input(id, "\n".into()).unwrap();
    assert_eq!(until(&mut follower, b"\n").await, b"out\n");
    processes.input(id, "\n".into()).unwrap();
    let Some(LogItem::Event(seq, ProcessEvent::Output(output))) = within(PATIENCE, follower.next()).await
    else {
        panic!()
    };
    assert_eq!((seq.get(), output.stream, output.text().as_str()), (2, OutputStream::Stderr, "err\n"));
    processes.input(id, "\n".into()).unwrap();
    let Some(LogItem::Event(_, ProcessEvent::Exited(exit))) = within(PATIENCE, follower.next()).await else {
        panic!()
    };
    assert_eq!((exit.code, exit.signal), (Some(3), None));
    // A reader of the exit event finds the process exited.
    let process = processes.get(id).unwrap();
    assert_eq!((process.state, process.exit), (ProcessState::Exited, Some(exit)));
    assert_eq!(within(PATIENCE, follower.next()).await, None);
}

#[tokio::test]
async fn pages_lead_to_the_end() {
    let processes = processes();
    let id = start(&processes, sh("for i in 1 2 3; do read x; echo $x; done")).await;
    assert_eq!(processes.logs(id, None, 10).unwrap().next_cursor.as_deref(), Some("0"));
    let mut follower = processes.follow(id, None).unwrap();
    for line in ["one\n", "two\n", "three\n"] {
        processes.input(id, line.into()).unwrap();
        assert_eq!(until(&mut follower, b"\n").await, line.as_bytes());
    }
    ended(&processes, id).await;
    let mut texts = Vec::new();
    let mut after = None;
    loop {
        let page = processes.logs(id, after, 2).unwrap();
        assert!(page.items.len() <= 2 && page.gap.is_none());
        texts.extend(page.items.into_iter().map(|item| (item.seq, item.text)));
        let Some(next) = page.next_cursor else { break };
        after = Some(next.parse().unwrap());
    }
    assert_eq!(texts, [(1, "one\n".into()), (2, "two\n".into()), (3, "three\n".into())]);
}

#[tokio::test]
async fn a_page_reports_the_gap() {
    let processes = processes();
    let id = start(&processes, sh("head -c 20000000 /dev/zero")).await;
    ended(&processes, id).await;
    let page = processes.logs(id, Some(Seq::new(1)), 1000).unwrap();
    let gap = page.gap.unwrap();
    assert!(gap.oldest > 1 && page.items[0].seq == gap.oldest, "{gap:?}");
    let bytes: usize = page.items.iter().map(|item| item.text.len()).sum();
    assert!((PAGE_BYTES_MAX..PAGE_BYTES_MAX + process::READ_BYTES).contains(&bytes), "{bytes}");
    assert_eq!(page.next_cursor, Some(page.items.last().unwrap().seq.to_string()));
    assert_eq!(processes.logs(id, None, 1000).unwrap().gap, None);
}

#[tokio::test]
async fn input_is_echoed_until_it_is_closed() {
    let processes = processes();
    let id = start(&processes, command("cat", &[])).await;
    processes.input(id, Bytes::from_static(b"exact \xff\x00 bytes\n")).unwrap();
    processes.close_input(id).unwrap();
    assert!(matches!(processes.input(id, "more".into()), Err(Error::InputClosed(_) | Error::Ended(_))));
    assert_eq!(until(&mut processes.follow(id, None).unwrap(), b"\n").await, b"exact \xff\x00 bytes\n");
    assert_eq!(ended(&processes, id).await.exit.unwrap().code, Some(0));
    for refused in
        [processes.input(id, "more".into()), processes.input(id, Bytes::new()), processes.close_input(id)]
    {
        assert!(matches!(refused, Err(Error::Ended(_))), "{refused:?}");
    }
}

/// A process that continues to run without its input accepts no more.
#[tokio::test]
async fn a_closed_input_accepts_no_more() {
    let processes = processes();
    let id = start(&processes, sh("sleep 600")).await;
    processes.close_input(id).unwrap();
    assert!(matches!(processes.input(id, "more".into()), Err(Error::InputClosed(_))));
    processes.shutdown().await;
}

#[tokio::test]
async fn a_process_that_does_not_read_is_busy() {
    let processes = processes();
    let id = start(&processes, sh("sleep 600")).await;
    let piece = Bytes::from(vec![b'x'; 256 << 10]);
    let refused = (0..32).find_map(|_| processes.input(id, piece.clone()).err());
    assert!(matches!(refused, Some(Error::Busy(_))), "{refused:?}");
    processes.shutdown().await;
}

/// A character that arrives in two pieces is not broken.
#[tokio::test]
async fn a_character_may_come_in_two_pieces() {
    let processes = processes();
    let id = start(&processes, sh(r"printf 'a\303'; read x; printf '\244b'; printf '\342' >&2")).await;
    until(&mut processes.follow(id, None).unwrap(), b"a\xc3").await;
    processes.input(id, "\n".into()).unwrap();
    ended(&processes, id).await;
    let entries = processes.logs(id, None, 10).unwrap().items;
    let texts_of = |stream| {
        entries.iter().filter(|item| item.stream == stream).map(|item| item.text.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(texts_of(OutputStream::Stdout), ["a", "äb"]);
    assert_eq!(texts_of(OutputStream::Stderr).concat(), "\u{fffd}");
}

/// Two followers get the same, and so does one that comes later.
#[tokio::test]
async fn all_followers_get_the_same() {
    let processes = processes();
    let id = start(&processes, sh("read x; seq 1 2000; seq 1 2000 >&2; exit 1")).await;
    let (one, two) = (processes.follow(id, None).unwrap(), processes.follow(id, None).unwrap());
    processes.input(id, "\n".into()).unwrap();
    let (one, two) = tokio::join!(all(one), all(two));
    let late = all(processes.follow(id, None).unwrap()).await;
    assert!(one == two && two == late && one.len() > 2);
    let rest = all(processes.follow(id, Some(Seq::new(1))).unwrap()).await;
    assert_eq!(rest, one[1..]);
}

#[tokio::test]
async fn waiting_ends_with_the_exit_or_the_time_limit() {
    let processes = processes();
    let id = start(&processes, sh("read x; exit 5")).await;
    assert_eq!(processes.wait(id, Duration::from_millis(1)).await.unwrap().state, ProcessState::Running);
    let waiting = processes.wait(id, PATIENCE);
    let ending = async { processes.input(id, "\n".into()).unwrap() };
    let (process, ()) = tokio::join!(waiting, ending);
    assert_eq!(process.unwrap().exit.unwrap().code, Some(5));
}
