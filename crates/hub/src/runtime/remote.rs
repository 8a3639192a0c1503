//! A runtime that is reached over the network.

use std::time::Duration;

use axum::body::Body;
use client::Client;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tracing::debug;

use super::{Down, Runtime, down};

/// A runtime that is reached over the network.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    silence_max: Duration,
}

impl Remote {
    /// The one that `client` speaks to; a stream of it is taken for lost when it is silent for so long.
    pub fn new(client: Client, silence_max: Duration) -> Self {
        Self { client, silence_max }
    }
}

impl Runtime for Remote {
    fn send(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        Box::pin(async {
            match self.client.forward(request).await {
                Ok(response) => Ok(response.map(Body::new)),
                Err(error) => {
                    debug!(error = %server::ErrorChain(&error), "could not forward a request");
                    Err(down(&error))
                }
            }
        })
    }

    fn silence_max(&self) -> Duration {
        self.silence_max
    }
}
