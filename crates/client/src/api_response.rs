//! A response of a server: its bytes, and the type that they encode.

use std::marker::PhantomData;

use bytes::Bytes;
use reqwest::{StatusCode, header::HeaderMap};
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// A response with a JSON body of type `T`. It keeps the original bytes, so that fields of a newer server are not lost when
/// the body is passed on.
#[derive(Debug, Clone)]
pub struct ApiResponse<T> {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    body_type: PhantomData<fn() -> T>,
}

impl<T> ApiResponse<T> {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { status, headers, body, body_type: PhantomData }
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

impl<T: DeserializeOwned> ApiResponse<T> {
    /// Parses the body.
    pub fn read(&self) -> Result<T> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Error::unexpected(self.status, format!("the body is invalid: {error}"), &self.body)
        })
    }
}
