//! What the daemon and the hub do alike when they serve: say where, log, and end in order.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::Context;
use telemetry::Export;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{memory, traces::TraceOptions};

/// The signals that end a server in order.
pub(crate) struct Farewell {
    terminate: Signal,
    interrupt: Signal,
}

impl Farewell {
    /// Listens for them from now on.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("could not listen for signals");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Serves until the first of them, and then until all is ended.
    pub(crate) async fn end<F: Future>(mut self, serve: impl FnOnce(CancellationToken) -> F) {
        let stop = CancellationToken::new();
        let mut serving = std::pin::pin!(serve(stop.clone()));
        tokio::select! {
            _ = &mut serving => return,
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        stop.cancel();
        serving.await;
    }
}

/// What serves: a thread per core, but for one, which is left to the agents. A thread more would wake and be woken for
/// every message, which on two cores costs a tenth of the time with many clients and a quarter with one.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    let workers =
        std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1));
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Runs what `serving` begins, as `service`, to its end: logs what the filter lets through, and exports spans if that is wanted.
pub(crate) fn run<F: Future<Output = anyhow::Result<()>>>(
    service: &'static str,
    (filter, traces): (&str, &TraceOptions),
    serving: impl FnOnce() -> anyhow::Result<F>,
) -> anyhow::Result<ExitCode> {
    memory::return_what_is_freed();
    let runtime = runtime()?;
    let export = traces.export(service, runtime.handle())?;
    log(filter, export.as_ref())?;
    let served = runtime.block_on(serving()?);
    if let Some(export) = export {
        export.end();
    }
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Says something on stdout. That may be closed, which is no reason not to serve.
pub(crate) fn greet(greeting: &str) {
    let _ = writeln!(io::stdout(), "{greeting}");
}

/// Logs to stderr what the filter lets through, and has spans exported if that is wanted.
fn log(filter: &str, export: Option<&Export>) -> anyhow::Result<()> {
    let targets: Targets = filter.parse().with_context(|| format!("`{filter}` is not a log filter"))?;
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_filter(targets);
    tracing_subscriber::registry().with(layer).with(export.map(Export::layer)).init();
    Ok(())
}
