//! Files over HTTP: streamed in constant memory, with the file work on blocking threads.

pub(crate) mod download;
mod problem;
pub(crate) mod upload;
pub(crate) mod wire;

use crate::problem::ApiError;

/// Runs file work where it may block.
pub(crate) async fn blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ApiError::internal(&error))?.map_err(Into::into)
}
