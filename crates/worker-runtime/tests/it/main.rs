//! The runtime by itself: sessions with a real agent process, watched over a real socket, without a daemon.
#![cfg(feature = "ws-server")]

mod observed;
