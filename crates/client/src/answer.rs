//! What a server answered: its bytes, and what they mean.

use std::marker::PhantomData;

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// An answer. Its bytes are as the server sent them, so what a newer server says is passed on whole.
#[derive(Debug, Clone)]
pub struct Answer<T> {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    meaning: PhantomData<fn() -> T>,
}

impl<T> Answer<T> {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { status, headers, body, meaning: PhantomData }
    }

    /// The body, byte for byte.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

impl<T: DeserializeOwned> Answer<T> {
    /// What the body says.
    pub fn read(&self) -> Result<T> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Error::unexpected(self.status, format!("the body cannot be read: {error}"), &self.body)
        })
    }
}
