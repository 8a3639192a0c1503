//! Following a worker: one stream of its runtime, taken up again whenever it ends.

use backoff::Backoff;
use protocol::observation::{DiagnosticKind, ResumeOutcome, StreamDiagnostic, StreamLeg};
use serde_json::json;
use tokio::time::timeout;
use tracing::{Instrument, Span, debug, info_span};

use super::{Feed, Taken};
use crate::{Down, Pace, Runtime, Upstream};

/// Why a stream of the runtime ended.
enum Ended {
    /// It is taken up again after what is known.
    Again(StreamDiagnostic),
    /// The events after the last known one are no longer stored, or the stream is another one. It starts over with a snapshot.
    Anew(ResumeOutcome),
    /// There is no such worker.
    Gone,
}

/// Follows the worker for as long as there is one.
pub(super) async fn pull(feed: &Feed, runtime: &dyn Runtime, pace: &Pace) {
    let mut backoff = Backoff::new(pace.pause_min, pace.pause_max);
    // Told once, however often it is tried.
    let mut told: Option<StreamDiagnostic> = None;
    let mut place = feed.resumed_from();
    let mut restart = ResumeOutcome::Reset;
    loop {
        let connecting =
            info_span!(parent: None, "upstream", runtime = %feed.runtime, session = %feed.worker);
        let ended = match open(feed, runtime, place.as_deref(), pace).instrument(connecting).await {
            Ok(mut upstream) => {
                let _connected = feed.metrics.connected();
                let mut heard = || {
                    backoff.reset();
                    if told.take().is_some() && place.is_some() {
                        feed.tell_resumed();
                    }
                };
                hear(feed, &mut *upstream, (place.as_deref(), restart), &mut heard).await
            }
            Err(ended) => ended,
        };
        place = match ended {
            Ended::Gone => return feed.end(DiagnosticKind::WorkerNotFound, "the worker does not exist"),
            Ended::Anew(outcome) => {
                restart = outcome;
                None
            }
            Ended::Again(diagnostic) => {
                debug!(runtime = %feed.runtime, worker = %feed.worker, code = diagnostic.code, "a worker stream ended");
                if told.as_ref() != Some(&diagnostic) {
                    feed.tell(diagnostic.clone());
                    told = Some(diagnostic);
                }
                backoff.wait().await;
                restart = ResumeOutcome::Reset;
                feed.resumed_from()
            }
        };
    }
}

async fn open(
    feed: &Feed,
    runtime: &dyn Runtime,
    place: Option<&str>,
    pace: &Pace,
) -> Result<Box<dyn Upstream>, Ended> {
    match timeout(pace.answer_max, runtime.watch(&feed.worker, place)).await {
        Ok(Ok(upstream)) => Ok(upstream),
        Ok(Err(Down::NoWorker)) => Err(Ended::Gone),
        Ok(Err(down)) => Err(unreachable_runtime(&down)),
        Err(_) => Err(unreachable_runtime(&Down::Timeout(pace.answer_max))),
    }
}

/// Records in the current span why the runtime cannot be reached.
fn unreachable_runtime(down: &Down) -> Ended {
    telemetry::record_failure(&Span::current(), down.error_type());
    Ended::Again(backend(DiagnosticKind::RuntimeUnavailable, "the runtime is unreachable"))
}

/// Takes what the runtime says until it ends. `heard` is called once, when it has begun to.
async fn hear(
    feed: &Feed,
    upstream: &mut dyn Upstream,
    (from, restart): (Option<&str>, ResumeOutcome),
    heard: &mut (dyn FnMut() + Send),
) -> Ended {
    let malformed = || {
        feed.metrics.upstream_malformed.inc();
        Ended::Again(backend(
            DiagnosticKind::MalformedFrame,
            "the runtime sent a frame that could not be parsed",
        ))
    };
    let gone = || Ended::Again(backend(DiagnosticKind::UpstreamDisconnect, "the runtime closed the stream"));
    let mut first = true;
    loop {
        let text = match upstream.next().await {
            Ok(Some(text)) => text,
            Ok(None) => return gone(),
            Err(Down::NoWorker) => return Ended::Gone,
            Err(Down::Malformed) => return malformed(),
            Err(
                Down::Unreachable
                | Down::Busy
                | Down::Timeout(_)
                | Down::BrokenRequest
                | Down::StalledRequest(_),
            ) => return gone(),
        };
        feed.metrics.bytes_in.inc_by(text.len() as u64);
        match feed.take(&text, from, restart) {
            Ok(Taken::Fine) if first => {
                first = false;
                heard();
            }
            Ok(Taken::Fine) => {}
            Ok(Taken::Trouble(diagnostic)) => return troubled(diagnostic),
            Err(_) => return malformed(),
        }
    }
}

/// What is to be done about a diagnostic of the runtime. It keeps its type.
fn troubled(diagnostic: StreamDiagnostic) -> Ended {
    match diagnostic.known() {
        Some((_, DiagnosticKind::CursorExpired)) => Ended::Anew(ResumeOutcome::Gap),
        Some((_, DiagnosticKind::CursorMalformed | DiagnosticKind::CursorUnknown)) => {
            Ended::Anew(ResumeOutcome::Reset)
        }
        Some((_, DiagnosticKind::WorkerNotFound)) => Ended::Gone,
        Some(_) => Ended::Again(diagnostic),
        None => Ended::Again(StreamDiagnostic {
            details: Some(json!({ "code": diagnostic.code, "message": diagnostic.message })),
            ..backend(DiagnosticKind::RuntimeUnavailable, "the runtime reported an unknown problem")
        }),
    }
}

fn backend(trouble: DiagnosticKind, message: &str) -> StreamDiagnostic {
    StreamDiagnostic::new(StreamLeg::Backend, trouble, message)
}
