//! daemon-13: "PTY", "resize": a process on a terminal.

use bytes::Bytes;
use journal::Seq;
use protocol::processes::TerminalSize;
use user_processes::{Error, LogItem, ProcessEvent, TerminalAttachment};

use crate::support::*;

/// Echoes the exact input.
const RAW_CAT: &str = "stty raw -echo; echo ready; exec cat";

#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions() {
    let processes = processes();
    let id = start(&processes, on_terminal(sh(RAW_CAT))).await;
    let TerminalAttachment { mut events, input } = processes.attach(id, None).unwrap();
    until(&mut events, b"ready").await;
    let every: Vec<u8> = (0..=255).rev().chain([b'!', b'\n']).collect();
    input.send(Bytes::from(every.clone())).unwrap();
    let shown = until(&mut events, b"!\n").await;
    assert_eq!(shown[shown.len() - every.len()..], every);
    processes.shutdown().await;
}

#[tokio::test]
async fn attaching_again_shows_the_same_output() {
    let processes = processes();
    let id = start(&processes, on_terminal(sh(RAW_CAT))).await;
    let first = processes.attach(id, None).unwrap();
    let mut events = first.events;
    let before = until(&mut events, b"ready").await;
    let position = events.position();
    drop((events, first.input));
    let TerminalAttachment { mut events, input } = processes.attach(id, None).unwrap();
    assert_eq!(until(&mut events, b"ready").await, before);
    input.send("after".into()).unwrap();
    let mut second = processes.attach(id, Some(position)).unwrap().events;
    let shown = until(&mut second, b"after").await;
    assert!(!shown.starts_with(&before), "{shown:?}");
    processes.shutdown().await;
}

#[tokio::test]
async fn the_process_and_all_viewers_get_a_new_size() {
    let processes = processes();
    let id = start(&processes, on_terminal(sh("stty size; read x; stty size"))).await;
    let TerminalAttachment { mut events, input } = processes.attach(id, None).unwrap();
    until(&mut events, b"24 80\r\n").await;
    let size = TerminalSize { columns: 132, rows: 50 };
    processes.resize(id, size).unwrap();
    assert_eq!(processes.get(id).unwrap().terminal, Some(size));
    assert!(matches!(processes.resize(id, TerminalSize { columns: 0, rows: 1 }), Err(Error::Invalid(_))));
    input.send("\n".into()).unwrap();
    until(&mut events, b"50 132\r\n").await;
    ended(&processes, id).await;
    assert!(matches!(input.resize(size), Err(Error::Ended(_))));
    assert!(matches!(input.send("x".into()), Err(Error::Ended(_))));
}

/// The input of a terminal is ended with a character.
#[tokio::test]
async fn closing_the_input_of_a_terminal_sends_ctrl_d() {
    let processes = processes();
    let id = start(&processes, on_terminal(sh("echo ready; cat; echo over"))).await;
    until(&mut processes.follow(id, None).unwrap(), b"ready").await;
    processes.close_input(id).unwrap();
    until(&mut processes.follow(id, None).unwrap(), b"over").await;
    assert_eq!(ended(&processes, id).await.exit.unwrap().code, Some(0));
}

#[tokio::test]
async fn the_terminal_of_an_exited_process_can_be_attached() {
    let processes = processes();
    let id = start(&processes, on_terminal(sh("echo last words"))).await;
    ended(&processes, id).await;
    let items = all(processes.attach(id, None).unwrap().events).await;
    assert!(matches!(items.last(), Some(LogItem::Event(_, ProcessEvent::Exited(_)))), "{items:?}");
    assert!(items.len() >= 2);
    let beyond = all(processes.attach(id, Some(Seq::new(1000))).unwrap().events).await;
    assert!(matches!(beyond[0], LogItem::Gap(_)) && beyond[1..] == items[..], "{beyond:?}");
}

#[tokio::test]
async fn a_process_on_pipes_has_no_terminal() {
    let processes = processes();
    let id = start(&processes, command("cat", &[])).await;
    assert!(matches!(processes.attach(id, None), Err(Error::NoTerminal(_))));
    let size = TerminalSize { columns: 1, rows: 1 };
    assert!(matches!(processes.resize(id, size), Err(Error::NoTerminal(_))));
    processes.shutdown().await;
}
