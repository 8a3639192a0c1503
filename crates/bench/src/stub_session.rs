//! A session of our daemon whose agent is the stub.

use std::io;

use serde_json::{Value, json};

use super::{
    http::{self, HttpConnection, HttpResponse},
    server_process::ServerProcess,
    session_event_reader::SessionEventReader,
};

/// The JSON by which the load generator recognises the kind of an event without parsing it.
pub(crate) const MESSAGE_DELTA: &[u8] = b"\"event\":{\"messageDelta\":";
pub(crate) const PERMISSION_ASKED: &[u8] = b"\"event\":{\"permissionAsked\":";
pub(crate) const TURN_ENDED: &[u8] = b"\"event\":{\"turnEnded\":";

/// A session at a server, addressed by its id.
#[derive(Debug)]
pub(crate) struct StubSession<'a> {
    server: &'a ServerProcess,
    id: String,
}

impl<'a> StubSession<'a> {
    /// Creates the session unless it exists, and starts its agent.
    pub(crate) fn open(server: &'a ServerProcess, id: impl Into<String>) -> io::Result<Self> {
        let session = Self::existing(server, id);
        let created =
            server.request(&http::post(&session.path(""), &json!({ "agent": "mock" }).to_string()))?;
        if json_body(&created, 200)?["healthy"] == true { Ok(session) } else { Err(unexpected(&created)) }
    }

    /// Addresses a session that already exists, without a request.
    pub(crate) fn existing(server: &'a ServerProcess, id: impl Into<String>) -> Self {
        Self { server, id: id.into() }
    }

    /// Returns the route of the session followed by `suffix`.
    pub(crate) fn path(&self, suffix: &str) -> String {
        format!("/v1/sessions/{}{suffix}", self.id)
    }

    /// Opens the event stream after the event with the sequence number `after`.
    pub(crate) fn open_events(&self, after: u64) -> io::Result<SessionEventReader> {
        SessionEventReader::open(self.server.address(), &self.path(&format!("/events/sse?offset={after}")))
    }

    /// Sends a message to the agent of the session.
    pub(crate) fn send_message(&self, connection: &mut HttpConnection, text: &str) -> io::Result<()> {
        let request = http::post(&self.path("/messages"), &json!({ "message": text }).to_string());
        json_body(&connection.request(&request)?, 202).map(drop)
    }

    /// Returns the sequence number of the newest event.
    pub(crate) fn newest_seq(&self) -> io::Result<u64> {
        let session = self.get("")?;
        // The previous release, which a comparison runs beside this one, calls the field `newest`.
        let seq = session["newestSeq"].as_u64().or_else(|| session["newest"].as_u64());
        seq.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Gets the JSON at a route of the session.
    pub(crate) fn get(&self, suffix: &str) -> io::Result<Value> {
        json_body(&self.server.request(&http::request("GET", &self.path(suffix), ""))?, 200)
    }
}

/// Parses the body of a response; an error if it does not have the expected status.
pub(crate) fn json_body(response: &HttpResponse, status: u16) -> io::Result<Value> {
    if response.status != status {
        return Err(unexpected(response));
    }
    Ok(serde_json::from_slice(&response.body)?)
}

fn unexpected(response: &HttpResponse) -> io::Error {
    io::Error::other(format!("{}: {}", response.status, String::from_utf8_lossy(&response.body)))
}
