//! Floors: the simplest programs that do the same work as a measured server.
//!
//! The figure of a floor shows how much of ours is unavoidable on this machine. Floors that are servers run as child
//! processes of the load generator, so that their CPU time is read from `/proc` in the same way as that of our server
//! and does not include the time of the load generator.

mod axum_echo;
mod axum_server;
mod broadcast;
mod copy;
mod fanout;
mod floor_server;
mod pipe;
mod stub_process;
mod tcp_echo;
mod ws_echo;
mod ws_hop;

use std::{io, net::TcpListener, path::PathBuf};

pub use broadcast::BroadcastOptions;
pub(crate) use copy::copy_all;
pub(crate) use floor_server::FloorServer;
pub(crate) use pipe::measure_round_trips;

/// A floor that runs as a server.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Floor {
    /// Return the body of each POST request, with axum.
    Axum,
    /// Return all received bytes on each TCP connection.
    Tcp,
    /// Return each WebSocket message.
    Ws,
    /// Forward WebSocket messages to another floor and back.
    WsHop {
        /// Forward to this WebSocket URL.
        to: String,
    },
    /// Copy the output of a flooding stub to every connection.
    Fanout {
        /// Run this `bench-stub` program.
        stub: PathBuf,
        /// Wait for this many connections.
        readers: usize,
        /// Let the stub write this many lines.
        count: u64,
        /// Make each line this long.
        bytes: usize,
    },
    /// Broadcast text to all WebSockets in a room.
    Broadcast(BroadcastOptions),
    /// Write the bytes of one connection to a file.
    Copy {
        /// Write to this file.
        file: PathBuf,
    },
}

impl Floor {
    /// Binds a free port of the loopback interface, prints the port and serves until the work is done or the process
    /// is killed.
    ///
    /// # Errors
    /// If a socket, a file or the stub fails.
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
            Self::Broadcast(options) => broadcast::serve(listener, options),
            Self::Copy { file } => copy::serve(&listener, &file),
        }
    }
}
