//! What is measured, one file each. Servers take turns within a measure, so that a busy minute hits all of them.

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

/// How long a server may take to carry a flood before we go on without its answer.
const FLOOD_PATIENCE: Duration = Duration::from_secs(20);

/// A measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Measure {
    /// Requests to the agent through the server.
    Post,
    /// What the agent says, to many readers.
    Sse,
    /// What it costs to keep history.
    Memory,
    /// What a connection costs that does nothing.
    Connections,
    /// The time to the first answer.
    Start,
    /// Large files.
    Files,
    /// An agent that dies while it is asked.
    Death,
    /// The end of an agent whose child does not want to go.
    Stop,
    /// Readers that do not read.
    Stalled,
    /// How often the kernel is called.
    Syscalls,
    /// The first use of a real agent.
    First,
    /// The durable journal by itself.
    Journal,
    /// Many sessions at once.
    Sessions,
    /// The way of an answer to the agent.
    Permission,
    /// A session with a long past.
    Open,
    /// Many who watch through the hub.
    Hub,
    /// Devices that are lent through the hub.
    Relay,
}

impl Measure {
    /// Measures it.
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

    /// Whether the cores are kept awake meanwhile.
    ///
    /// A core that is never idle takes over nothing that waits for another one. Where many threads share the work, that
    /// costs more than waking: with 200 sessions it made 25 ms of the 7 ms that the slowest hundredth takes.
    pub fn keeps_awake(self) -> bool {
        !matches!(self, Self::Journal | Self::Sessions | Self::Hub | Self::Relay)
    }
}

/// The request for a flood. Its id follows from its numbers, so that no two of one instance have the same.
fn flood_request(instance: &str, flood: &Flood) -> Vec<u8> {
    http::post(&format!("/v1/acp/{instance}"), &message(1_000 + flood.from, "bench/flood", &flood.params()))
}

/// Lets an instance flood, and waits until it has said everything.
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
