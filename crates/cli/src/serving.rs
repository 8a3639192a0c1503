//! Shared by the servers (daemon, hub, `up`): the async runtime, logging, and shutdown on a signal.

use std::{
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use anyhow::Context;
use telemetry::TraceExport;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{Layer, filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{memory, traces::TraceOptions};

/// SIGTERM and SIGINT, which shut a server down gracefully.
pub(crate) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignals {
    /// Installs the signal handlers.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("could not listen for signals");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    /// Runs `serve` until it returns. The first signal cancels its token, and `serve` then shuts down.
    pub(crate) async fn run_until_signal<F: Future>(mut self, serve: impl FnOnce(CancellationToken) -> F) {
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

/// A runtime with one thread per core, minus one that is left to the agents. With a further thread, messages wake
/// threads more often: on two cores throughput fell by a tenth with many clients, and by a quarter with one.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    let workers =
        std::thread::available_parallelism().map_or(1, |cores| cores.get().saturating_sub(1).max(1));
    tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()
}

/// Runs a server to its end. `filter` selects the log lines, `traces` exports spans under the name `service`, and `serve`
/// starts the server.
pub(crate) fn run<F: Future<Output = anyhow::Result<()>>>(
    service: &'static str,
    filter: &str,
    traces: &TraceOptions,
    serve: impl FnOnce() -> anyhow::Result<F>,
) -> anyhow::Result<ExitCode> {
    memory::limit_retained_heap();
    let runtime = runtime()?;
    let export = traces.export(service, runtime.handle())?;
    init_logging(filter, export.as_ref())?;
    let result = runtime.block_on(serve()?);
    if let Some(export) = export {
        export.shutdown();
    }
    result?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a line to stdout. A closed stdout is ignored: the server runs without it.
pub(crate) fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// Says what to do if a server could not be started because its port is taken.
pub(crate) fn explain_taken_port(error: impl Into<anyhow::Error>, port_option: &str) -> anyhow::Error {
    let error: anyhow::Error = error.into();
    let is_taken = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::AddrInUse);
    if !is_taken {
        return error;
    }
    anyhow::anyhow!("{error:#}: is `tombolo up` running already? Pass {port_option} 0 to use a free port")
}

/// Sends log lines that pass `filter` to stderr, and spans to `export`.
fn init_logging(filter: &str, export: Option<&TraceExport>) -> anyhow::Result<()> {
    let targets: Targets = filter.parse().with_context(|| {
        format!("`{filter}` is not a log filter: use a level such as `info`, or pairs such as `hub=debug`")
    })?;
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_filter(targets);
    tracing_subscriber::registry().with(layer).with(export.map(TraceExport::layer)).init();
    Ok(())
}
