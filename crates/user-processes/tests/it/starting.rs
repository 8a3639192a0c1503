//! daemon-13: what can be started, and how it is told when it cannot.

use process::Reason;
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

/// What it is given is what it gets, and nothing that is not meant for it.
#[tokio::test]
async fn a_process_runs_where_and_with_what_it_was_told() {
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

async fn refused(start: StartProcessRequest) -> InvalidStart {
    match processes().start(start).await {
        Err(Error::Invalid(invalid)) => invalid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_by_name() {
    let with_cwd = |cwd: &str| StartProcessRequest { cwd: Some(cwd.into()), ..sh("") };
    let with_env =
        |name: &str, value: &str| StartProcessRequest { env: [(name.into(), value.into())].into(), ..sh("") };
    assert_eq!(refused(command("", &[])).await, InvalidStart::Command);
    assert_eq!(refused(command("a\0b", &[])).await, InvalidStart::Command);
    assert_eq!(refused(command("a", &["b", "c\0"])).await, InvalidStart::Arg(1));
    assert_eq!(refused(with_cwd("/no/such")).await, InvalidStart::Cwd("/no/such".into()));
    assert_eq!(refused(with_cwd("/proc/self/stat")).await, InvalidStart::Cwd("/proc/self/stat".into()));
    assert_eq!(refused(with_cwd("tests")).await, InvalidStart::Cwd("tests".into()));
    assert_eq!(refused(with_env("A=B", "")).await, InvalidStart::Env("A=B".into()));
    assert_eq!(refused(with_env("", "")).await, InvalidStart::Env("".into()));
    assert_eq!(refused(with_env("A", "\0")).await, InvalidStart::Env("A".into()));
    for (columns, rows) in [(0, 24), (80, 0)] {
        let start = StartProcessRequest { terminal: Some(TerminalSize { columns, rows }), ..sh("") };
        assert_eq!(refused(start).await, InvalidStart::Size);
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_so() {
    let processes = processes();
    for start in [command("no-such-program", &[]), on_terminal(command("no-such-program", &[]))] {
        match processes.start(start).await {
            Err(Error::Start(process::Error::Spawn { reason: Reason::NotFound, program, .. })) => {
                assert_eq!(program, "no-such-program");
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(processes.list(), []);
}
