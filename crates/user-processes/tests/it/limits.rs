//! daemon-13: limits on processes and logs.

use protocol::ProcessId;
use user_processes::{Config, Error, LogItem, ProcessEvent, UserProcessLimits, UserProcesses};

use crate::support::*;

fn limited(processes: usize, exited: usize) -> UserProcesses {
    UserProcesses::new(Config {
        limits: UserProcessLimits { processes, exited, ..UserProcessLimits::default() },
        ..config()
    })
}

#[tokio::test]
async fn the_number_of_running_processes_is_limited() {
    let processes = limited(2, 10);
    let first = start(&processes, command("cat", &[])).await;
    start(&processes, command("cat", &[])).await;
    assert!(matches!(processes.start(command("cat", &[])).await, Err(Error::TooMany(2))));
    // A failed start does not count.
    processes.delete(first).await;
    assert!(matches!(processes.start(command("no-such-program", &[])).await, Err(Error::Start(_))));
    start(&processes, command("cat", &[])).await;
    assert!(matches!(processes.start(command("cat", &[])).await, Err(Error::TooMany(2))));
    processes.shutdown().await;
}

#[tokio::test]
async fn the_process_that_exited_first_is_removed_first() {
    let processes = limited(10, 2);
    let running = start(&processes, command("cat", &[])).await;
    let mut ids: Vec<ProcessId> = Vec::new();
    for _ in 0..4 {
        ids.push(start(&processes, command("cat", &[])).await);
    }
    // They exit in another order than they were started.
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

/// A stalled follower neither blocks the process nor is it skipped ahead silently.
#[tokio::test]
async fn a_stalled_follower_gets_a_gap() {
    let processes = processes();
    let id = start(&processes, sh("read x; head -c 20000000 /dev/zero; echo end")).await;
    let stalled = processes.follow(id, None).unwrap();
    processes.input(id, "\n".into()).unwrap();
    ended(&processes, id).await;
    let items = all(stalled).await;
    let LogItem::Gap(gap) = items[0] else { panic!("{:?}", items[0]) };
    assert!(matches!(&items[1], LogItem::Event(seq, _) if *seq == gap.oldest));
    assert!(matches!(items.last(), Some(LogItem::Event(seq, ProcessEvent::Exited(_))) if *seq == gap.newest));
}

/// A follower that keeps up loses nothing, however much is written.
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
            LogItem::Event(_, ProcessEvent::Output(output)) => output.bytes().len(),
            LogItem::Event(_, ProcessEvent::Exited(_)) => 0,
            LogItem::Gap(gap) => panic!("{gap}"),
        })
        .sum();
    assert_eq!(bytes, 20_000_000);
}
