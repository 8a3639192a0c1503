//! What cannot be undercut: the same work with nothing in between.
//!
//! Servers among the floors are children of the load generator, so that their CPU is counted as a server's is.

mod axum_echo;
mod broadcast;
mod child;
mod copy;
mod fanout;
mod pipe;
mod tcp_echo;
mod ws_echo;
mod ws_hop;

use std::{io, net::TcpListener, path::PathBuf};

pub use broadcast::Broadcast;
pub(crate) use child::FloorServer;
pub(crate) use copy::copy_all;
pub(crate) use pipe::round_trips;

/// A floor that is a server.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Floor {
    /// Answers a POST with its body.
    Axum,
    /// Sends back what comes.
    Tcp,
    /// Sends back what comes, over WebSockets.
    Ws,
    /// Passes on what comes to another floor and back, over WebSockets.
    WsHop {
        /// Where to.
        to: String,
    },
    /// Copies the output of a flooding stub to every connection.
    Fanout {
        /// The stub.
        stub: PathBuf,
        /// How many connections to wait for.
        readers: usize,
        /// How many lines.
        count: u64,
        /// How long each is.
        bytes: usize,
    },
    /// Says the same to everyone in a room, over WebSockets.
    Broadcast(Broadcast),
    /// Writes what comes to a file.
    Copy {
        /// The file.
        file: PathBuf,
    },
}

impl Floor {
    /// Serves on a free port of the loopback, which it prints, until it is killed.
    ///
    /// # Errors
    /// If the network fails.
    pub fn serve(self) -> io::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        println!("{}", listener.local_addr()?.port());
        match self {
            Self::Axum => axum_echo::serve(listener),
            Self::Tcp => tcp_echo::serve(&listener),
            Self::Ws => ws_echo::serve(listener),
            Self::WsHop { to } => ws_hop::serve(listener, to),
            Self::Fanout { stub, readers, count, bytes } => {
                fanout::serve(&listener, &stub, readers, count, bytes)
            }
            Self::Broadcast(broadcast) => broadcast::serve(listener, broadcast),
            Self::Copy { file } => copy::serve(&listener, &file),
        }
    }
}
