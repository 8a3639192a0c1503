//! A session of our daemon whose agent is the stub.

use std::io;

use serde_json::{Value, json};

use super::{
    followed::Followed,
    http::{self, Answer, Connection},
    server::Server,
};

/// The JSON by which the load generator recognises the kind of an event without parsing it.
pub(crate) const DELTA: &[u8] = b"\"event\":{\"messageDelta\":";
pub(crate) const ASKED: &[u8] = b"\"event\":{\"permissionAsked\":";
pub(crate) const TURN_ENDED: &[u8] = b"\"event\":{\"turnEnded\":";

/// A session at a server, addressed by its id.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    server: &'a Server,
    id: String,
}

impl<'a> Session<'a> {
    /// Creates the session unless it exists, and starts its agent.
    pub(crate) fn open(server: &'a Server, id: impl Into<String>) -> io::Result<Self> {
        let session = Self::known(server, id);
        let created = server.ask(&http::post(&session.path(""), &json!({ "agent": "mock" }).to_string()))?;
        match body(&created, 200)?["healthy"] == true {
            true => Ok(session),
            false => Err(unexpected(&created)),
        }
    }

    /// Addresses a session that already exists, without a request.
    pub(crate) fn known(server: &'a Server, id: impl Into<String>) -> Self {
        Self { server, id: id.into() }
    }

    /// Returns the route of the session followed by `of`.
    pub(crate) fn path(&self, of: &str) -> String {
        format!("/v1/sessions/{}{of}", self.id)
    }

    /// Opens the event stream after the event with the sequence number `after`.
    pub(crate) fn follow(&self, after: u64) -> io::Result<Followed> {
        Followed::open(self.server.address(), &self.path(&format!("/events/sse?offset={after}")))
    }

    /// Sends a message to the agent of the session.
    pub(crate) fn say(&self, connection: &mut Connection, text: &str) -> io::Result<()> {
        let request = http::post(&self.path("/messages"), &json!({ "message": text }).to_string());
        body(&connection.ask(&request)?, 202).map(drop)
    }

    /// Returns the sequence number of the newest event.
    pub(crate) fn newest_seq(&self) -> io::Result<u64> {
        let session = self.get("")?;
        // The previous release, which a comparison runs beside this one, calls the field `newest`.
        let seq = session["newestSeq"].as_u64().or_else(|| session["newest"].as_u64());
        seq.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Gets the JSON at a route of the session.
    pub(crate) fn get(&self, of: &str) -> io::Result<Value> {
        body(&self.server.ask(&http::request("GET", &self.path(of), ""))?, 200)
    }
}

/// Parses the body of a response; an error if it does not have the expected status.
pub(crate) fn body(answer: &Answer, status: u16) -> io::Result<Value> {
    if answer.status != status {
        return Err(unexpected(answer));
    }
    Ok(serde_json::from_slice(&answer.body)?)
}

fn unexpected(answer: &Answer) -> io::Error {
    io::Error::other(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)))
}
