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

use super::{BenchSetup, RunReport, http, json_rpc, server_process::ServerProcess, stub_agent::Flood};

/// The longest time until a server answers the request for a flood. After that the measurement continues without it.
const FLOOD_TIMEOUT: Duration = Duration::from_secs(20);

/// A measurement that `bench-load run --only` can select.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Measurement {
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
    /// Time from a user's response to the agent that waits for it.
    Permission,
    /// Time to open a session with a long history.
    Open,
    /// Latency and cost of events for many clients of the hub.
    Hub,
    /// Throughput and latency of devices over the relay.
    Relay,
}

impl Measurement {
    /// Runs the measurement and adds its figures to the report.
    ///
    /// # Errors
    /// If our own server or a floor fails.
    pub fn run(self, setup: &BenchSetup, report: &mut RunReport) -> io::Result<()> {
        match self {
            Self::Post => post::run(setup, report),
            Self::Sse => sse::run(setup, report),
            Self::Memory => memory::run(setup, report),
            Self::Connections => connections::run(setup, report),
            Self::Start => start::run(setup, report),
            Self::Files => files::run(setup, report),
            Self::Death => death::run(setup, report),
            Self::Stop => stop::run(setup, report),
            Self::Stalled => stalled::run(setup, report),
            Self::Syscalls => syscalls::run(setup, report),
            Self::First => first::run(setup, report),
            Self::Journal => journal::run(setup, report),
            Self::Sessions => sessions::run(setup, report),
            Self::Permission => permission::run(setup, report),
            Self::Open => open::run(setup, report),
            Self::Hub => hub::run(setup, report),
            Self::Relay => relay::run(setup, report),
        }
    }

    /// Whether [`Spinners`](super::Spinners) keep the cores awake during this measurement.
    ///
    /// A core with a spinner never becomes idle, and only an idle core pulls waiting threads from a busy one. Where
    /// many threads share the work, this costs more than waking a halted core: with 200 sessions, spinners raised the
    /// 99th percentile from 7 ms to 25 ms. The relay measurement starts spinners itself for its sequential part.
    pub fn keeps_cores_awake(self) -> bool {
        !matches!(self, Self::Journal | Self::Sessions | Self::Hub | Self::Relay)
    }
}

/// Formats the request for a flood. The request id is derived from the first line number, so that all floods of an
/// instance have different ids.
fn flood_request(instance: &str, flood: &Flood) -> Vec<u8> {
    http::post(
        &format!("/v1/acp/{instance}"),
        &json_rpc::request(1_000 + flood.from, "bench/flood", &flood.params()),
    )
}

/// Starts a flood in an agent instance and waits until the agent has written all of it.
fn flood(server: &ServerProcess, instance: &str, flood: &Flood) -> io::Result<()> {
    let response = http::request_once(server.address(), &flood_request(instance, flood), FLOOD_TIMEOUT)?;
    if response.status == 200 {
        Ok(())
    } else {
        Err(io::Error::other(format!("a flood ended with {}", response.status)))
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
