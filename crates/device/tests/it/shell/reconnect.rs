//! What becomes of commands when the connection is lost (relay-123).

use std::time::{Duration, Instant};

use async_trait::async_trait;
use device::{
    Consent, Device, Provider, Visit,
    shell::{Config, Limits, OnDisconnect, Shell},
};
use protocol::relay::{DeviceCapabilities, Family, MethodInfo, RawJson, RelayError, RelayErrorCode, Request};
use relay::Reply;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use super::support::{
    BOTH, Kind, Laptop, config, hear, nobody_runs, open, processes, runs, says, somebody_runs, started,
    unique,
};
use crate::support::Lent;

/// How long it may take until nothing is left of what may not go on.
const AT_ONCE: Duration = Duration::from_secs(1);

async fn laptop(kind: Kind, on_disconnect: OnDisconnect) -> Laptop {
    Laptop::with(Config { on_disconnect, ..config(kind) }).await
}

/// How a connection is lost.
#[derive(Debug, Clone, Copy)]
enum Loss {
    /// Whoever drives it is gone in the midst of everything.
    Cut,
    /// The other side closes it, and this one is told.
    Closed,
}

const LOSSES: [Loss; 2] = [Loss::Cut, Loss::Closed];

/// Loses the connection and makes another; what is given is what is left of the first.
async fn again(laptop: &mut Laptop, loss: Loss) -> Option<Lent> {
    let second = Lent::connect(laptop.device.clone()).await;
    replaced(laptop, loss, second)
}

/// The same, with a hub that accepts the device for this.
async fn again_for(laptop: &mut Laptop, loss: Loss, families: Vec<Family>) -> Option<Lent> {
    let second = Lent::connect_for(laptop.device.clone(), families).await;
    replaced(laptop, loss, second)
}

fn replaced(laptop: &mut Laptop, loss: Loss, second: Lent) -> Option<Lent> {
    let first = std::mem::replace(&mut laptop.lent, second);
    match loss {
        Loss::Cut => None,
        Loss::Closed => {
            first.peer.close("the hub is shutting down");
            Some(first)
        }
    }
}

fn cases() -> impl Iterator<Item = (Kind, Loss)> {
    BOTH.into_iter().flat_map(|kind| LOSSES.map(|loss| (kind, loss)))
}

/// relay-123: usually they are ended, …
#[tokio::test]
async fn commands_end_with_the_connection() {
    for (kind, loss) in cases() {
        let mut laptop = laptop(kind, OnDisconnect::Kill).await;
        let (one, two) = (unique(), unique());
        let mut call =
            laptop.start(json!({ "command": format!("echo ready; sleep {one}; sleep {one}") })).await;
        let foreground = started(&mut call).await;
        says(&mut call, "ready").await;
        let background = laptop.background(&format!("sleep {two}")).await;
        runs(&two).await;
        let _first = again(&mut laptop, loss).await;
        nobody_runs(&one).await;
        nobody_runs(&two).await;
        for id in [foreground, background] {
            let (status, _) = laptop.ends(&id).await;
            assert_eq!(status["state"], "killed", "{kind:?} {loss:?}");
        }
    }
}

/// relay-123: … and if their owner wants it, they go on and tell the truth afterwards.
#[tokio::test]
async fn commands_are_kept_over_a_connection() {
    for (kind, loss) in cases() {
        let mut laptop = laptop(kind, OnDisconnect::Keep).await;
        let line = "echo ready; read line; echo got $line; exit 3";
        let mut call = laptop.start(json!({ "command": line })).await;
        let foreground = started(&mut call).await;
        says(&mut call, "ready").await;
        let background = laptop.background(line).await;
        let _first = again(&mut laptop, loss).await;
        for id in [&foreground, &background] {
            let status = laptop.ask("shell.status", json!({ "command_id": id })).await.unwrap();
            assert_eq!(status["state"], "running", "{kind:?} {loss:?}");
            laptop.input(id, "hello\n", false).await.unwrap();
            let (status, written) = laptop.ends(id).await;
            assert_eq!(
                (&status["state"], &status["exit_code"]),
                (&json!("exited"), &json!(3)),
                "{kind:?} {loss:?}"
            );
            assert!(written.ends_with("got hello\n"), "{kind:?} {loss:?} {written:?}");
            // Whoever followed may have missed something, and is told.
            assert_eq!(status["output_truncated"], json!(*id == foreground));
        }
        let unknown = laptop.status("cmd_0").await.unwrap_err();
        assert_eq!(unknown.code, RelayErrorCode::NotFound);
    }
}

/// relay-123, relay-53: a request that is cancelled ends its command, whatever is kept.
#[tokio::test]
async fn what_is_kept_can_be_cancelled() {
    let mut laptop = laptop(Kind::Sandboxed, OnDisconnect::Keep).await;
    let number = unique();
    let params = json!({ "command": format!("echo ready; sleep {number}") });
    let mut call = laptop.start(params.clone()).await;
    started(&mut call).await;
    says(&mut call, "ready").await;
    drop(call);
    nobody_runs(&number).await;
    let mut call = laptop.lent.call("shell.start", RawJson::from_value(&params), None).await;
    let id = started(&mut call).await;
    says(&mut call, "ready").await;
    let _first = again(&mut laptop, Loss::Closed).await;
    runs(&number).await;
    let cancelled: Value = laptop.ask("shell.cancel", json!({ "command_id": id })).await.unwrap();
    assert_eq!(cancelled, json!({}));
    nobody_runs(&number).await;
    assert_eq!(laptop.status(&id).await.unwrap()["state"], "killed");
    // The call was lost with its connection.
    assert!(hear(call).await.outcome.is_err());
}

/// Kills a command, and takes from the system how it ended before the device can: that has no turn meanwhile.
fn snatch(text: &str) {
    let [pid] = processes(text)[..] else { panic!("{text}") };
    let pid = Pid::from_raw(pid).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    waitpid(Some(pid), WaitOptions::empty()).unwrap();
}

/// relay-83, relay-123: a command is lost of which nobody can tell how it ended, and is called so on the next connection, too.
#[tokio::test]
async fn a_command_is_lost_of_which_nobody_knows_the_end() {
    let mut laptop = laptop(Kind::Local, OnDisconnect::Keep).await;
    let (one, two) = (unique(), unique());
    let mut call = laptop.start(json!({ "argv": ["sleep", one] })).await;
    let foreground = started(&mut call).await;
    let kept = laptop.run(json!({ "argv": ["sleep", two], "background": true })).await.outcome.unwrap();
    runs(&one).await;
    runs(&two).await;
    snatch(&one);
    let error = hear(call).await.error();
    assert_eq!((error.code, &error.details["lost"]), (RelayErrorCode::ProviderError, &json!(true)));
    let _first = again(&mut laptop, Loss::Closed).await;
    snatch(&two);
    for id in [&foreground, kept["command_id"].as_str().unwrap()] {
        let (status, _) = laptop.ends(id).await;
        assert_eq!((&status["state"], &status["exit_code"]), (&json!("lost"), &Value::Null));
    }
}

/// relay-155, relay-157: what was to be kept is ended at once when the device comes back and no commands are granted any more,
/// also what does not want to end.
#[tokio::test]
async fn commands_that_are_no_longer_granted_are_not_kept() {
    for (kind, loss) in cases() {
        let base = config(kind);
        let limits = Limits { grace: Duration::from_secs(20), ..base.limits.clone() };
        let mut laptop = Laptop::with(Config { on_disconnect: OnDisconnect::Keep, limits, ..base }).await;
        let (one, two) = (unique(), unique());
        let mut call = laptop
            .start(json!({ "command": format!("trap '' TERM; echo ready; sleep {one}; sleep {one}") }))
            .await;
        started(&mut call).await;
        says(&mut call, "ready").await;
        laptop.background(&format!("sleep {two}")).await;
        runs(&two).await;
        let _first = again_for(&mut laptop, loss, vec![Family::Fileops, Family::Shell]).await;
        assert!(somebody_runs(&one) && somebody_runs(&two), "it may go on");
        let since = Instant::now();
        let _second = again_for(&mut laptop, loss, vec![Family::Fileops]).await;
        nobody_runs(&one).await;
        nobody_runs(&two).await;
        assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
        // What is started later is not concerned.
        let _third = again_for(&mut laptop, loss, vec![Family::Shell]).await;
        assert_eq!(laptop.line("echo here").await.stdout(), "here\n");
    }
}

/// A shell that answers when it is too late.
struct Late(Shell);

#[async_trait]
impl Provider for Late {
    fn family(&self) -> Family {
        Family::Shell
    }

    fn offer(&self, capabilities: &mut DeviceCapabilities) {
        self.0.offer(capabilities);
    }

    async fn request(
        &self,
        row: &'static MethodInfo,
        request: Request,
        reply: &mut Reply,
        visit: &Visit,
    ) -> Result<RawJson, RelayError> {
        let answer = self.0.request(row, request, reply, visit).await;
        reply.cancelled().await;
        answer
    }
}

/// relay-53: a request that is cancelled before it is answered leaves nothing in the background, whatever is kept.
#[tokio::test]
async fn what_is_started_by_a_request_that_is_cancelled_ends() {
    for on_disconnect in [OnDisconnect::Kill, OnDisconnect::Keep] {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let shell = open(home.path(), Config { on_disconnect, ..config(Kind::Local) }).await;
        let lent = Lent::connect(Device::new(vec![Box::new(Late(shell))], Consent::default())).await;
        let number = unique();
        let params = json!({ "command": format!("sleep {number}"), "background": true });
        let mut call = lent.call("shell.start", RawJson::from_value(&params), None).await;
        started(&mut call).await;
        runs(&number).await;
        call.cancel();
        assert_eq!(hear(call).await.error().code, RelayErrorCode::Cancelled);
        nobody_runs(&number).await;
    }
}
