//! A typed client of the daemon and the hub: HTTP, and streams that resume by themselves.
//!
//! It knows the wire types of `protocol` and nothing of any server. One file per resource, mirroring the routes.

mod acp;
mod agents;
mod answer;
mod client;
mod config;
mod endpoint;
mod error;
mod events;
mod follow;
mod forward;
mod fs;
mod inbox;
mod info;
mod install;
mod logs;
mod processes;
mod records;
mod runtimes;
mod sessions;
mod socket;
mod sse;
mod terminal;
mod token;
mod told;
mod transfer;
mod waits;
mod websocket;
mod workers;

pub use acp::{Acp, Message, Reply};
pub use agents::Agents;
pub use answer::Answer;
pub use client::Client;
pub use config::{Mcp, Skills};
pub use endpoint::{Endpoint, InvalidEndpoint};
pub use error::{Error, Refusal, Result};
pub use events::{Event, EventKind, Events};
pub use forward::{Forwarded, Head};
pub use fs::{Fs, Page};
pub use inbox::Inbox;
pub use info::Info;
pub use install::{InstallEvent, InstallEvents};
pub use logs::{LogEvent, LogEventKind, Logs};
pub use processes::Processes;
pub use records::{RecordEvent, Records};
pub use runtimes::Runtimes;
pub use sessions::{Pages, Sessions};
pub use socket::{SocketFrame, SocketReader, SocketWriter};
pub use terminal::{TerminalFrame, TerminalInput, TerminalOutput};
pub use token::{InvalidToken, Token};
pub use told::Told;
pub use transfer::{Download, Upload};
pub use waits::Waits;
pub use workers::{Watched, Workers};
