//! daemon-13: starting processes, and rejected requests.

use process::SpawnFailure;
use protocol::processes::{ProcessState, StartProcessRequest, TerminalSize};
use user_processes::{Error, InvalidStart};

use crate::support::*;

#[tokio::test]
async fn a_process_is_listed_from_its_start() {
    let processes = processes();
    let first = processes.start(command("cat", &["-u"])).await.unwrap();
    let second = start(&processes, on_terminal(command("cat", &[]))).await;
    assert_eq!((first.command.as_str(), first.args.as_slice()), ("cat", &["-u".to_owned()][..]));
    assert_eq!((first.cwd.as_str(), first.terminal, first.state), ("/", None, ProcessState::Running));
    assert!(lives(first.pid));
    assert_eq!(processes.get(first.id).unwrap(), first);
    let ids: Vec<_> = processes.list().iter().map(|process| process.id).collect();
    assert_eq!(ids, [first.id, second]);
    assert_eq!(processes.get(second).unwrap().terminal, Some(TerminalSize { columns: 80, rows: 24 }));
    processes.shutdown().await;
}

/// A process gets the given directory and variables, and does not inherit removed ones.
#[tokio::test]
async fn a_process_gets_its_directory_and_environment() {
    let processes = processes();
    let directory = tempfile::tempdir().unwrap();
    let cwd = directory.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let script = "pwd; echo \"$GREETING|${HOME-none}|${PATH+path}\"";
    let env = [("GREETING".to_owned(), "hello".to_owned())].into();
    let id = start(&processes, StartProcessRequest { cwd: Some(cwd.clone()), env, ..sh(script) }).await;
    let expected = format!("{cwd}\nhello|none|path\n");
    let shown = until(&mut processes.follow(id, None).unwrap(), b"|path\n").await;
    assert_eq!(String::from_utf8(shown).unwrap(), expected);
    assert_eq!(ended(&processes, id).await.cwd, cwd);
}

async fn rejection(start: StartProcessRequest) -> InvalidStart {
    match processes().start(start).await {
        Err(Error::Invalid(invalid)) => invalid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_invalid_request_is_rejected_with_the_reason() {
    let with_cwd = |cwd: &str| StartProcessRequest { cwd: Some(cwd.into()), ..sh("") };
    let with_env =
        |name: &str, value: &str| StartProcessRequest { env: [(name.into(), value.into())].into(), ..sh("") };
    assert_eq!(rejection(command("", &[])).await, InvalidStart::Command);
    assert_eq!(rejection(command("a\0b", &[])).await, InvalidStart::Command);
    assert_eq!(rejection(command("a", &["b", "c\0"])).await, InvalidStart::Arg(1));
    assert_eq!(rejection(with_cwd("/no/such")).await, InvalidStart::Cwd("/no/such".into()));
    assert_eq!(rejection(with_cwd("/proc/self/stat")).await, InvalidStart::Cwd("/proc/self/stat".into()));
    assert_eq!(rejection(with_cwd("tests")).await, InvalidStart::Cwd("tests".into()));
    assert_eq!(rejection(with_env("A=B", "")).await, InvalidStart::Env("A=B".into()));
    assert_eq!(rejection(with_env("", "")).await, InvalidStart::Env("".into()));
    assert_eq!(rejection(with_env("A", "\0")).await, InvalidStart::Env("A".into()));
    for (columns, rows) in [(0, 24), (80, 0)] {
        let start = StartProcessRequest { terminal: Some(TerminalSize { columns, rows }), ..sh("") };
        assert_eq!(rejection(start).await, InvalidStart::Size);
    }
}

#[tokio::test]
async fn a_missing_program_is_reported() {
    let processes = processes();
    for start in [command("no-such-program", &[]), on_terminal(command("no-such-program", &[]))] {
        match processes.start(start).await {
            Err(Error::Start(process::Error::Spawn { reason: SpawnFailure::NotFound, program, .. })) => {
                assert_eq!(program, "no-such-program");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(processes.list(), []);
}
