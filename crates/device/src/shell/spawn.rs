//! Starts what was planned.

use std::{os::fd::AsRawFd, time::Duration};

use process::{OutputReader, ProcessControl, ProcessSpec, ProcessStdin, PtyResizer, PtySize, SpawnFailure};
use protocol::relay::{RelayError, RelayErrorCode};
use tracing::warn;

use super::{
    Sandbox,
    plan::Plan,
    proxy::NetworkProxy,
    refusal,
    report::{Report, Word},
    sandbox::SandboxConnection,
    scratch::Lease,
};

/// How long a sandbox may take to be set up.
const SETUP_MAX: Duration = Duration::from_secs(20);

/// A command that runs and has no owner yet.
pub(super) struct Spawned {
    pub(super) stdin: ProcessStdin,
    pub(super) outputs: OutputReader,
    pub(super) control: ProcessControl,
    pub(super) screen: Option<PtyResizer>,
    /// What a sandbox says of how it ended.
    pub(super) report: Option<Report>,
    /// What connects it with other machines.
    pub(super) proxy: Option<NetworkProxy>,
}

/// Starts it, in a sandbox if there is one.
pub(super) async fn spawn(
    plan: &Plan,
    sandbox: Option<(&Sandbox, &Lease)>,
    grace: Duration,
) -> Result<Spawned, RelayError> {
    let Some((sandbox, scratch)) = sandbox else {
        return run(local(plan).grace(grace), plan, None).await;
    };
    let (spec, SandboxConnection { report, listener }) = sandbox.spec(plan, scratch).map_err(|error| {
        warn!(%error, "could not describe the sandbox");
        refusal::failed("the sandbox could not be set up")
    })?;
    let mut spawned = run(spec.grace(grace), plan, Some(report)).await?;
    confirm(&mut spawned).await?;
    if let Some(listener) = listener {
        match listener.receive().and_then(NetworkProxy::start) {
            Ok(proxy) => spawned.proxy = Some(proxy),
            Err(error) => {
                warn!(%error, "could not start the proxy of a command");
                spawned.control.stop().await;
                return Err(refusal::failed("the network of the sandbox could not be set up"));
            }
        }
    }
    Ok(spawned)
}

/// Without a sandbox: in the directory itself, whatever is put in its place meanwhile.
fn local(plan: &Plan) -> ProcessSpec {
    let directory = format!("/proc/self/fd/{}", plan.place.handle.as_raw_fd());
    let mut spec = ProcessSpec::new(&plan.program).args(&plan.args).env_clear().new_session().cwd(directory);
    for (name, value) in &plan.env {
        spec = spec.env(name, value);
    }
    spec
}

async fn run(spec: ProcessSpec, plan: &Plan, report: Option<Report>) -> Result<Spawned, RelayError> {
    let Some(size) = plan.pty else {
        let raw = process::spawn_raw(&spec).await.map_err(|error| refused(&error))?;
        let (stdin, outputs, control) = (raw.stdin, raw.outputs, raw.control);
        return Ok(Spawned { stdin, outputs, control, screen: None, report, proxy: None });
    };
    let size = PtySize { cols: size.cols, rows: size.rows };
    let pty = process::spawn_pty(&spec, size).await.map_err(|error| refused(&error))?;
    let (stdin, outputs, control) = (pty.stdin, pty.outputs, pty.control);
    Ok(Spawned { stdin, outputs, control, screen: Some(pty.resizer), report, proxy: None })
}

/// Returns once the command runs in its sandbox. Until then nothing that is written is the command's.
async fn confirm(spawned: &mut Spawned) -> Result<(), RelayError> {
    let Some(report) = &mut spawned.report else { return Ok(()) };
    let word = tokio::time::timeout(SETUP_MAX, report.next()).await;
    let refusal = match word {
        Ok(Some(Word::Started)) => return Ok(()),
        Ok(Some(Word::NotFound)) => no_program(),
        Ok(Some(Word::NotExecutable)) => not_executable(),
        said => {
            let written = tokio::time::timeout(SETUP_MAX, spawned.outputs.next()).await.ok().flatten();
            let written = written.map(|output| String::from_utf8_lossy(&output.bytes).into_owned());
            warn!(?said, written, "could not set up a sandbox");
            refusal::failed("the sandbox could not be set up")
        }
    };
    spawned.control.stop().await;
    Err(refusal)
}

fn refused(error: &process::Error) -> RelayError {
    match error {
        process::Error::Spawn { reason: SpawnFailure::NotFound, .. } => no_program(),
        process::Error::Spawn {
            reason: SpawnFailure::NotExecutable | SpawnFailure::NoInterpreter, ..
        } => not_executable(),
        error => {
            warn!(error = %protocol::ErrorChain(error), "could not start a command");
            refusal::failed("the command could not be started")
        }
    }
}

fn no_program() -> RelayError {
    RelayError::new(RelayErrorCode::NotFound, "the program was not found").with("reason", "program")
}

fn not_executable() -> RelayError {
    refusal::denied("the program cannot be run").with("reason", "program")
}
