//! daemon-13: whatever is run, it stays within its limits.

use protocol::ProcessId;
use user_processes::{Config, Error, Event, Item, Limits, Processes};

use crate::support::*;

fn limited(processes: usize, exited: usize) -> Processes {
    Processes::new(Config { limits: Limits { processes, exited, ..Limits::default() }, ..config() })
}

#[tokio::test]
async fn no_more_run_than_may() {
    let processes = limited(2, 10);
    let first = start(&processes, command("cat", &[])).await;
    start(&processes, command("cat", &[])).await;
    assert!(matches!(processes.start(command("cat", &[])).await, Err(Error::TooMany(2))));
    // What could not be started takes no place.
    processes.delete(first).await;
    assert!(matches!(processes.start(command("no-such-program", &[])).await, Err(Error::Start(_))));
    start(&processes, command("cat", &[])).await;
    assert!(matches!(processes.start(command("cat", &[])).await, Err(Error::TooMany(2))));
    processes.shutdown().await;
}

#[tokio::test]
async fn who_ended_first_is_forgotten_first() {
    let processes = limited(10, 2);
    let running = start(&processes, command("cat", &[])).await;
    let mut ids: Vec<ProcessId> = Vec::new();
    for _ in 0..4 {
        ids.push(start(&processes, command("cat", &[])).await);
    }
    // They end in another order than they were started in.
    for index in [3, 0, 2, 1] {
        processes.close_input(ids[index]).unwrap();
        ended(&processes, ids[index]).await;
    }
    let kept = || processes.list().iter().map(|process| process.id).collect::<Vec<_>>();
    let forgotten = async {
        while kept().len() > 3 {
            tokio::task::yield_now().await;
        }
    };
    within(PATIENCE, forgotten).await;
    assert_eq!(kept(), [running, ids[1], ids[2]]);
    assert!(matches!(processes.logs(ids[0], None, 1), Err(Error::NotFound(_))));
    processes.shutdown().await;
}

/// A follower that does not read neither stops the process nor is it skipped ahead in silence.
#[tokio::test]
async fn a_stalled_follower_is_told_of_the_gap() {
    let processes = processes();
    let id = start(&processes, sh("read x; head -c 20000000 /dev/zero; echo end")).await;
    let stalled = processes.follow(id, None).unwrap();
    processes.input(id, "\n".into()).unwrap();
    ended(&processes, id).await;
    let items = all(stalled).await;
    let Item::Gap(gap) = items[0] else { panic!("{:?}", items[0]) };
    assert!(matches!(&items[1], Item::Event(seq, _) if *seq == gap.oldest));
    assert!(matches!(items.last(), Some(Item::Event(seq, Event::Exited(_))) if *seq == gap.newest));
}

/// One that keeps up loses nothing of a flood.
#[tokio::test]
async fn a_follower_that_keeps_up_loses_nothing() {
    let processes = processes();
    let id = start(&processes, sh("read x; head -c 20000000 /dev/zero")).await;
    let follower = processes.follow(id, None).unwrap();
    processes.input(id, "\n".into()).unwrap();
    let items = all(follower).await;
    let bytes: usize = items
        .iter()
        .map(|item| match item {
            Item::Event(_, Event::Output(output)) => output.bytes().len(),
            Item::Event(_, Event::Exited(_)) => 0,
            Item::Gap(gap) => panic!("{gap}"),
        })
        .sum();
    assert_eq!(bytes, 20_000_000);
}
