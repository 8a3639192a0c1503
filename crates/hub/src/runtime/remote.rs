//! A runtime that is reached over the network.

use axum::body::Body;
use client::Client;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tracing::debug;

use super::{Down, Runtime, down};

/// A runtime that is reached over the network.
#[derive(Debug)]
pub struct Remote(Client);

impl Remote {
    /// The one that `client` speaks to.
    pub fn new(client: Client) -> Self {
        Self(client)
    }
}

impl Runtime for Remote {
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        Box::pin(async {
            match self.0.forward(request).await {
                Ok(response) => Ok(response.map(Body::new)),
                Err(error) => {
                    debug!(error = %server::Chain(&error), "a request was not passed on");
                    Err(down(&error))
                }
            }
        })
    }
}
