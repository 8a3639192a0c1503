//! The author of requests that name none.

use protocol::Author;

use crate::Error;

const DEFAULT_AUTHOR: &str = "user";

/// The author of requests that name none.
pub(crate) fn default_author() -> Result<Author, Error> {
    DEFAULT_AUTHOR.parse().map_err(|_| Error::InvalidAnswer("the default author name is invalid".into()))
}
