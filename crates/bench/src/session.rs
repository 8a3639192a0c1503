//! A session of our daemon with the stub, driven by hand.

use std::io;

use serde_json::{Value, json};

use super::{
    followed::Followed,
    http::{self, Answer, Connection},
    server::Server,
};

/// Kinds of events, as they stand in one.
pub(crate) const DELTA: &[u8] = b"\"event\":{\"messageDelta\":";
pub(crate) const ASKED: &[u8] = b"\"event\":{\"permissionAsked\":";
pub(crate) const TURN_ENDED: &[u8] = b"\"event\":{\"turnEnded\":";

/// A session.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    server: &'a Server,
    id: String,
}

impl<'a> Session<'a> {
    /// Creates it, or finds it, and has its agent running.
    pub(crate) fn open(server: &'a Server, id: impl Into<String>) -> io::Result<Self> {
        let session = Self::known(server, id);
        let created = server.ask(&http::post(&session.path(""), &json!({ "agent": "mock" }).to_string()))?;
        match body(&created, 200)?["healthy"] == true {
            true => Ok(session),
            false => Err(unexpected(&created)),
        }
    }

    /// One that was created before.
    pub(crate) fn known(server: &'a Server, id: impl Into<String>) -> Self {
        Self { server, id: id.into() }
    }

    /// The path of something about it.
    pub(crate) fn path(&self, of: &str) -> String {
        format!("/v1/sessions/{}{of}", self.id)
    }

    /// Follows what happens in it after an event.
    pub(crate) fn follow(&self, after: u64) -> io::Result<Followed> {
        Followed::open(self.server.address(), &self.path(&format!("/events/sse?offset={after}")))
    }

    /// Says something to its agent.
    pub(crate) fn say(&self, connection: &mut Connection, text: &str) -> io::Result<()> {
        let request = http::post(&self.path("/messages"), &json!({ "message": text }).to_string());
        body(&connection.ask(&request)?, 202).map(drop)
    }

    /// The sequence number of its newest event.
    pub(crate) fn newest_seq(&self) -> io::Result<u64> {
        let session = self.get("")?;
        // The previous release, which a comparison runs beside this one, calls the field `newest`.
        let seq = session["newestSeq"].as_u64().or_else(|| session["newest"].as_u64());
        seq.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// What is told about it.
    pub(crate) fn get(&self, of: &str) -> io::Result<Value> {
        body(&self.server.ask(&http::request("GET", &self.path(of), ""))?, 200)
    }
}

/// The JSON of an answer, which must have this status.
pub(crate) fn body(answer: &Answer, status: u16) -> io::Result<Value> {
    if answer.status != status {
        return Err(unexpected(answer));
    }
    Ok(serde_json::from_slice(&answer.body)?)
}

fn unexpected(answer: &Answer) -> io::Error {
    io::Error::other(format!("{}: {}", answer.status, String::from_utf8_lossy(&answer.body)))
}
