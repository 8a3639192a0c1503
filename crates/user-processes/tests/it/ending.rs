//! daemon-13: "signal", "DELETE": stopping processes with all their descendants.

use protocol::{
    ProcessId,
    processes::{ProcessSignal, ProcessState},
};
use user_processes::{Error, LogItem, ProcessEvent, UserProcesses};

use crate::support::*;

/// A process that ignores SIGTERM with two children, one of them outside of the group; prints their ids.
const FAMILY: &str = "import os,signal,time\nsignal.signal(signal.SIGTERM,signal.SIG_IGN)\npids=[os.getpid()]\nfor leave in (0,1):\n p=os.fork()\n if p==0:\n  if leave: os.setsid()\n  time.sleep(600)\n pids.append(p)\nprint(*pids,flush=True)\nwhile 1: time.sleep(600)";

async fn family(processes: &UserProcesses) -> (ProcessId, Vec<u32>) {
    let id = start(processes, command("python3", &["-c", FAMILY])).await;
    let output = until(&mut processes.follow(id, None).unwrap(), b"\n").await;
    let output = String::from_utf8(output).unwrap();
    let pids: Vec<u32> = output.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() == 3 && pids.iter().all(|pid| lives(*pid)));
    (id, pids)
}

#[tokio::test]
async fn a_signal_arrives() {
    let processes = processes();
    let script = "trap 'echo caught; exit 7' USR1; echo ready; while :; do sleep 0.01; done";
    let id = start(&processes, sh(script)).await;
    until(&mut processes.follow(id, None).unwrap(), b"ready\n").await;
    processes.signal(id, ProcessSignal::Usr1).unwrap();
    assert_eq!(ended(&processes, id).await.exit.unwrap().code, Some(7));
    assert!(matches!(processes.signal(id, ProcessSignal::Usr1), Err(Error::Ended(_))));
}

#[tokio::test]
async fn an_exit_by_a_signal_is_reported_as_such() {
    for (signal, number) in [
        (ProcessSignal::Kill, 9),
        (ProcessSignal::Term, 15),
        (ProcessSignal::Int, 2),
        (ProcessSignal::Hup, 1),
    ] {
        let processes = processes();
        let id = start(&processes, command("cat", &[])).await;
        processes.signal(id, signal).unwrap();
        let exit = ended(&processes, id).await.exit.unwrap();
        assert_eq!((exit.code, exit.signal), (None, Some(number)));
    }
}

#[tokio::test]
async fn deleting_stops_all_descendants() {
    let processes = processes();
    let (id, pids) = family(&processes).await;
    let follower = processes.follow(id, None).unwrap();
    within(PATIENCE, processes.delete(id)).await;
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
    assert!(matches!(processes.get(id), Err(Error::NotFound(_))));
    assert!(matches!(all(follower).await.last(), Some(LogItem::Event(_, ProcessEvent::Exited(_)))));
    within(PATIENCE, processes.delete(id)).await;
}

/// A deletion continues when its caller is cancelled.
#[tokio::test]
async fn a_cancelled_deletion_continues() {
    let processes = processes();
    let (id, pids) = family(&processes).await;
    let impatient = tokio::time::timeout(std::time::Duration::from_millis(1), processes.delete(id)).await;
    assert!(impatient.is_err());
    let gone = async {
        while processes.get(id).is_ok() {
            tokio::task::yield_now().await;
        }
    };
    within(PATIENCE, gone).await;
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
}

/// Background processes are stopped by the deletion, not by the exit of the process.
#[tokio::test]
async fn background_processes_run_until_the_deletion() {
    let processes = processes();
    let id = start(&processes, sh("sleep 600 & echo $!")).await;
    let process = ended(&processes, id).await;
    let text = processes.logs(id, None, 10).unwrap().items.remove(0).text;
    let background: u32 = text.trim().parse().unwrap();
    assert!(process.state == ProcessState::Exited && lives(background));
    within(PATIENCE, processes.delete(id)).await;
    assert!(!lives(background));
}

#[tokio::test]
async fn shutting_down_stops_all_and_rejects_new_ones() {
    let processes = processes();
    let (id, pids) = family(&processes).await;
    let other = start(&processes, on_terminal(command("cat", &[]))).await;
    let followers = [processes.follow(id, None).unwrap(), processes.attach(other, None).unwrap().events];
    let waiting = processes.wait(other, PATIENCE);
    let (waited, ()) = tokio::join!(waiting, within(PATIENCE, processes.shutdown()));
    assert_eq!(waited.unwrap().state, ProcessState::Exited);
    assert_eq!(pids.iter().filter(|pid| lives(**pid)).count(), 0);
    for follower in followers {
        assert!(matches!(all(follower).await.last(), Some(LogItem::Event(_, ProcessEvent::Exited(_)))));
    }
    assert!(matches!(processes.start(sh("")).await, Err(Error::ShuttingDown)));
    assert_eq!(processes.list(), []);
}
