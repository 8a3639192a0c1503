//! The commands of an environment.

use std::{collections::HashMap, time::Duration};

use futures_util::StreamExt;
use parking_lot::Mutex;
use protocol::relay::{
    Family, RawJson, RelayError, RelayErrorCode, Request,
    shell::{CommandInput, Signal, StartCommand, TerminalDimensions},
};
use relay::{
    Reply,
    environment::{Error, Said, Shell, split},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::{device::lend, mapping::command};
use crate::support::{holds_nothing, within};

/// Commands in memory: what each is told goes to where it waits for it.
#[derive(Default)]
pub(crate) struct Commands(Mutex<HashMap<String, Running>>);

#[derive(Clone)]
struct Running {
    line: String,
    told: mpsc::Sender<Told>,
}

enum Told {
    Input(CommandInput),
    Other(Box<Request>),
}

impl Commands {
    pub(crate) async fn request(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        if request.method == "shell.start" {
            return self.start(request, reply).await;
        }
        let id =
            request.params.read::<serde_json::Value>().unwrap()["command_id"].as_str().unwrap().to_owned();
        let command = self.0.lock().get(&id).cloned();
        let line = command.as_ref().map_or("", |command| command.line.as_str());
        match (request.method.as_str(), line) {
            ("shell.status", "mute") => reply.cancelled().await,
            ("shell.cancel", "stuck") => {
                return Err(RelayError::new(RelayErrorCode::ProviderError, "it goes on").with("lost", true));
            }
            _ => {}
        }
        if request.method == "shell.status" {
            let state = json!({ "state": "running", "started_at": "2026-01-01T00:00:00Z", "output_truncated": false });
            return Ok(RawJson::from_value(&state));
        }
        let Some(Running { told: command, .. }) = command else {
            return Err(RelayError::new(RelayErrorCode::NotFound, "it has ended"));
        };
        let told = match request.method.as_str() {
            "shell.input" => Told::Input(request.params.read().unwrap()),
            _ => Told::Other(request.into()),
        };
        let _ = command.send(told).await;
        Ok(RawJson::empty())
    }

    async fn start(&self, request: Request, reply: &mut Reply) -> Result<RawJson, RelayError> {
        let params: StartCommand = request.params.read().unwrap();
        let (told, mut tells) = mpsc::channel(16);
        let line = params.command.unwrap();
        self.0.lock().insert(request.id.clone(), Running { line: line.clone(), told });
        let _gone = Gone(self, request.id.clone());
        if line != "untold" {
            reply.stream("status", RawJson::from_value(&json!({ "command_id": request.id }))).await?;
        }
        let mut exit_code = 0;
        match line.as_str() {
            "echo" | "untold" => reply.bytes("stdout", b"hello\n").await?,
            "both" => {
                for number in 0..200 {
                    reply.bytes(["stdout", "stderr"][number % 2], format!("{number}\n").as_bytes()).await?;
                }
            }
            "bytes" => reply.bytes("stdout", &[0xff, 0xfe]).await?,
            "much" => {
                for _ in 0..100 {
                    reply.bytes("stdout", &[b'x'; 10_000]).await?;
                }
                reply.bytes("stderr", b"end").await?;
            }
            "fail" => exit_code = 3,
            "late" => return Err(RelayError::new(RelayErrorCode::Timeout, "it took too long")),
            "cat" => {
                while let Some(Told::Input(input)) = tells.recv().await {
                    reply.bytes("stdout", input.data.as_bytes()).await?;
                    if input.eof {
                        break;
                    }
                }
            }
            "trap" => {
                while let Some(Told::Other(request)) = tells.recv().await {
                    reply
                        .bytes(
                            "stdout",
                            format!("{} {}\n", request.method, request.params.as_str()).as_bytes(),
                        )
                        .await?;
                    if request.method == "shell.cancel" {
                        return Err(RelayError::new(RelayErrorCode::Cancelled, "killed"));
                    }
                }
            }
            "immortal" => {
                let _ = tells.recv().await;
                return Err(RelayError::new(RelayErrorCode::Cancelled, "killed").with("lost", true));
            }
            "undead" => {
                let _ = tells.recv().await;
                return Err(RelayError::new(RelayErrorCode::Timeout, "it took too long").with("lost", true));
            }
            "broken" => {
                let _ = tells.recv().await;
                return Err(RelayError::new(RelayErrorCode::ProviderError, "the device failed"));
            }
            "timely" => {
                let _ = tells.recv().await;
                return Err(RelayError::new(RelayErrorCode::Timeout, "it took too long"));
            }
            _ => reply.cancelled().await,
        }
        Ok(RawJson::from_value(&json!({ "exit_code": exit_code, "duration_ms": 1 })))
    }
}

struct Gone<'a>(&'a Commands, String);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.0.lock().remove(&self.1);
    }
}

/// relay-76, relay-113: a command says what it writes, in order, and then how it ended.
#[tokio::test]
async fn a_command_says_what_it_writes() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    let said: Vec<_> = within(within(shell.start(command("both"))).await.unwrap().collect()).await;
    assert_eq!(said.len(), 201);
    for (number, said) in said.iter().take(200).enumerate() {
        let line = format!("{number}\n").into_bytes();
        assert_eq!(*said, if number % 2 == 0 { Said::Stdout(line) } else { Said::Stderr(line) });
    }
    assert!(matches!(&said[200], Said::Ended(Ok(ended)) if ended.exit_code == Some(0)));
    let output = within(shell.run(command("fail"), 1000)).await.unwrap();
    assert_eq!((output.ended.exit_code, output.stdout.len()), (Some(3), 0));
    assert_eq!(within(shell.run(command("bytes"), 1000)).await.unwrap().stdout, [0xff, 0xfe]);
    // A device that does not say that it runs: it is called as its request is (relay-78).
    assert_eq!(within(shell.run(command("untold"), 1000)).await.unwrap().stdout, b"hello\n");
    let much = within(shell.run(command("much"), 1000)).await.unwrap();
    assert_eq!((much.stdout.len(), much.stderr.as_slice(), much.truncated), (1000, b"end".as_slice(), true));
    // It runs where relative paths start.
    let asked = lent.memory.asked.lock().pop().unwrap();
    assert_eq!(asked.params.read::<StartCommand>().unwrap().cwd.unwrap().as_str(), "/workspace/main");
}

/// relay-112: a command that takes too long is an error of its own, said by the device or by nobody.
#[tokio::test(start_paused = true)]
async fn a_command_that_takes_too_long_is_told() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    assert_eq!(within(shell.run(command("late"), 10)).await.unwrap_err(), Error::ShellTimeout);
    let wait = StartCommand { timeout_ms: Some(1000), ..command("wait") };
    assert_eq!(within(shell.run(wait, 10)).await.unwrap_err(), Error::ShellTimeout);
    // Others may take as long as they need.
    let running = shell.start(command("wait")).await.unwrap();
    let long = tokio::time::timeout(Duration::from_secs(3600), running.wait()).await;
    assert!(long.is_err());
}

/// relay-112: a question about a command that takes too long says nothing of the command, which goes on.
#[tokio::test(start_paused = true)]
async fn a_question_that_takes_too_long_is_no_end_of_the_command() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    let running = within(shell.start(command("mute"))).await.unwrap();
    let late = shell.status(running.id(), false).await.unwrap_err();
    assert!(matches!(&late, Error::Relay(error) if error.code == RelayErrorCode::Timeout), "{late:?}");
    assert_eq!(lent.device.held().requests, 1);
}

/// relay-77, relay-79, relay-111: what is written to a command arrives, and ends; so do signals and sizes.
#[tokio::test]
async fn a_command_is_spoken_to() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    let cat = within(shell.start(command("cat"))).await.unwrap();
    within(cat.input(b"one ")).await.unwrap();
    within(cat.input(b"two")).await.unwrap();
    within(cat.end_input()).await.unwrap();
    assert_eq!(within(cat.output(100)).await.unwrap().stdout, b"one two");
    let trap = within(shell.start(command("trap"))).await.unwrap();
    within(trap.signal(Signal::Name("SIGINT".into()))).await.unwrap();
    within(trap.resize(TerminalDimensions { cols: 80, rows: 24 })).await.unwrap();
    assert!(within(shell.status(trap.id(), false)).await.is_ok());
    let id = trap.id().to_owned();
    within(shell.cancel(&id, None)).await.unwrap();
    let said: Vec<_> = within(trap.collect()).await;
    let lines: Vec<_> = said
        .iter()
        .filter_map(|said| match said {
            Said::Stdout(line) => std::str::from_utf8(line).unwrap().split(' ').next(),
            _ => None,
        })
        .collect();
    assert_eq!(lines, ["shell.signal", "shell.resize", "shell.cancel"]);
    let gone = within(shell.input(&id, b"x")).await.unwrap_err();
    assert_eq!(gone.code(), RelayErrorCode::NotFound);
}

/// relay-53: who kills a command knows that it is gone, or that nobody knows.
#[tokio::test]
async fn a_command_is_killed_for_sure() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    within(within(shell.start(command("trap"))).await.unwrap().kill()).await.unwrap();
    within(within(shell.start(command("timely"))).await.unwrap().kill()).await.unwrap();
    // Whatever the device calls it that it does not know.
    for line in ["immortal", "undead", "stuck"] {
        let unsure = within(shell.start(command(line))).await.unwrap();
        assert_eq!(within(unsure.kill()).await.unwrap_err(), Error::Unconfirmed, "{line}");
    }
    let broken = within(shell.start(command("broken"))).await.unwrap();
    assert_eq!(within(broken.kill()).await.unwrap_err().code(), RelayErrorCode::ProviderError);
    let ended = within(shell.start(command("echo"))).await.unwrap();
    holds_nothing(&lent.device).await;
    within(ended.kill()).await.unwrap();
}

/// relay-54: a command that is dropped is cancelled.
#[tokio::test]
async fn a_command_that_is_dropped_is_cancelled() {
    let lent = lend(&[Family::Shell]).await;
    let running = within(lent.environment.shell().start(command("wait"))).await.unwrap();
    assert_eq!(lent.device.held().requests, 1);
    drop(running);
    holds_nothing(&lent.device).await;
}

/// relay-111: each output by itself, as pipes: one that is not read holds up the other only when it is full.
#[tokio::test]
async fn each_output_is_read_by_itself() {
    let lent = lend(&[Family::Shell]).await;
    let shell = lent.environment.shell();
    let (mut stdout, stderr, ended) = split(within(shell.start(command("both"))).await.unwrap());
    // The end is waited for beside: whoever is told must tell the others.
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async { ended.await.unwrap().exit_code });
    assert_eq!(within(stdout.next()).await.unwrap(), b"0\n");
    assert_eq!(within(tasks.join_next()).await.unwrap().unwrap(), Some(0));
    assert_eq!(within(stderr.collect::<Vec<_>>()).await.concat().split(|byte| *byte == b'\n').count(), 101);
    assert_eq!(within(stdout.collect::<Vec<_>>()).await.len(), 99);
    // 1 MB to a pipe that nobody reads stops it; if nobody can read it, it goes on.
    let (stdout, mut stderr, ended) = split(within(shell.start(command("much"))).await.unwrap());
    assert!(tokio::time::timeout(Duration::from_millis(200), stderr.next()).await.is_err());
    drop(stdout);
    assert_eq!(within(stderr.next()).await.unwrap(), b"end");
    assert_eq!(within(ended).await.unwrap().exit_code, Some(0));
}
