//! The agents that can be run: which exist, how each is started, and the built-in mock.
//!
//! Knows nothing of HTTP or storage. A program is started by `process`, from the plan that is made here.

mod catalog;
mod definition;
pub mod mock;
mod search_path;

pub use catalog::Catalog;
pub use definition::{Definition, Error, Launch, UserAgent};
pub use search_path::SearchPath;
