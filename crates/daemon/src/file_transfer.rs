//! File transfer over HTTP: streamed in constant memory, with file operations on blocking threads.

pub(crate) mod download;
mod entity_tags;
pub(crate) mod upload;
pub(crate) mod wire;

use crate::api_error::ApiError;

/// Runs file operations on a thread that may block.
pub(crate) async fn run_blocking<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, ApiError>
where
    T: Send + 'static,
    E: Into<ApiError> + Send + 'static,
{
    let result = tokio::task::spawn_blocking(work).await;
    result.map_err(|error| ApiError::internal(&error))?.map_err(Into::into)
}
