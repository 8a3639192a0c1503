//! The measurements, one file each.
//!
//! Within a measurement the servers and floors take turns, round by round. If another program loads the machine for a
//! while, all of them are affected, and the ratios between them stay usable.

mod connections;
mod death;
mod files;
mod first;
mod hub;
mod journal;
mod memory;
mod open;
mod permission;
mod post;
mod relay;
mod sessions;
mod sse;
mod stalled;
mod start;
mod stop;
mod syscalls;

use std::{io, time::Duration};

use super::{
    Lab, Report, http,
    server::{Server, message},
    stub::Flood,
};

/// The longest time until a server answers the request for a flood. After that the measurement continues without it.
const FLOOD_PATIENCE: Duration = Duration::from_secs(20);

/// A measurement that `bench-load run --only` can select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Measure {
    /// Latency, rate and CPU time of requests that the server forwards to the agent.
    Post,
    /// Rate, loss and CPU time of agent output that is streamed to many readers.
    Sse,
    /// Memory that the server needs for its history.
    Memory,
    /// Memory that an idle connection needs.
    Connections,
    /// Time from the start of the server to its first response.
    Start,
    /// Upload and download of large files.
    Files,
    /// Time until a client learns that the agent has died.
    Death,
    /// Time to stop an agent whose child process ignores SIGTERM, and processes that remain.
    Stop,
    /// Effect of clients that never read on a client that does.
    Stalled,
    /// System calls per request.
    Syscalls,
    /// Time to the first response of a real agent in a fresh home.
    First,
    /// Rate and latency of the durable journal without a server.
    Journal,
    /// Latency and cost of events in many concurrent sessions.
    Sessions,
    /// Time from a user's answer to the agent that waits for it.
    Permission,
    /// Time to open a session with a long history.
    Open,
    /// Latency and cost of events for many clients of the hub.
    Hub,
    /// Throughput and latency of devices over the relay.
    Relay,
}

impl Measure {
    /// Runs the measurement and adds its figures to the report.
    ///
    /// # Errors
    /// If our own server or a floor fails.
    pub fn run(self, lab: &Lab, report: &mut Report) -> io::Result<()> {
        match self {
            Self::Post => post::run(lab, report),
            Self::Sse => sse::run(lab, report),
            Self::Memory => memory::run(lab, report),
            Self::Connections => connections::run(lab, report),
            Self::Start => start::run(lab, report),
            Self::Files => files::run(lab, report),
            Self::Death => death::run(lab, report),
            Self::Stop => stop::run(lab, report),
            Self::Stalled => stalled::run(lab, report),
            Self::Syscalls => syscalls::run(lab, report),
            Self::First => first::run(lab, report),
            Self::Journal => journal::run(lab, report),
            Self::Sessions => sessions::run(lab, report),
            Self::Permission => permission::run(lab, report),
            Self::Open => open::run(lab, report),
            Self::Hub => hub::run(lab, report),
            Self::Relay => relay::run(lab, report),
        }
    }

    /// Whether [`Spinners`](super::Spinners) keep the cores awake during this measurement.
    ///
    /// A core with a spinner never becomes idle, and only an idle core pulls waiting threads from a busy one. Where
    /// many threads share the work, this costs more than waking a halted core: with 200 sessions, spinners raised the
    /// 99th percentile from 7 ms to 25 ms. The relay measurement starts spinners itself for its sequential part.
    pub fn keeps_awake(self) -> bool {
        !matches!(self, Self::Journal | Self::Sessions | Self::Hub | Self::Relay)
    }
}

/// Formats the request for a flood. The request id is derived from the first line number, so that all floods of an
/// instance have different ids.
fn flood_request(instance: &str, flood: &Flood) -> Vec<u8> {
    http::post(&format!("/v1/acp/{instance}"), &message(1_000 + flood.from, "bench/flood", &flood.params()))
}

/// Starts a flood in an agent instance and waits until the agent has written all of it.
fn flood(server: &Server, instance: &str, flood: &Flood) -> io::Result<()> {
    let answer = http::once(server.address(), &flood_request(instance, flood), FLOOD_PATIENCE)?;
    if answer.status == 200 {
        Ok(())
    } else {
        Err(io::Error::other(format!("a flood ended with {}", answer.status)))
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
