//! File operations that cannot leave their tree.
//!
//! A [`Root`] holds one directory handle, and every path is resolved by the kernel relative to it (`openat2` with
//! `RESOLVE_IN_ROOT`): `..`, absolute paths and links end at the root, whoever renames what meanwhile. A step after
//! the first works on the handle the first returned, never on the name again.
//!
//! Everything is synchronous and streams through buffers of at most [`CHUNK_BYTES`]; callers with an async runtime use
//! its blocking pool. The crate knows no HTTP: a [`VirtualPath`] comes in, an [`Error`] with its [`Cause`] goes out.

#[cfg(not(target_os = "linux"))]
compile_error!(
    "`files` confines paths with openat2(2), which only Linux has: build this crate for a Linux target"
);

mod error;
mod path;

mod root;

mod append;
mod copy;
mod create;
mod directory;
mod entries;
mod mkdir;
mod read;
mod remove;
mod rename;
mod stat;
mod temp;
mod watch;

mod archive;
pub mod private_file;
pub mod unpack;

pub use append::AppendFile;
pub use create::{AtomicFile, CreateOptions, Durability, Existing, Written};
pub use directory::{Directory, Name};
pub use entries::{ENTRIES_MAX, Entry, Page};
pub use error::{Cause, Error};
pub use mkdir::Parents;
pub use path::{PATH_BYTES_MAX, VirtualPath};
pub use remove::Removal;
pub use root::Root;
pub use stat::{FileKind, Links, Stat};
pub use watch::{Reach, Seen, WATCHED_MAX, Watch};

/// How much to read or write at a time: large enough that system calls do not show, small enough for any number of
/// transfers at once.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// How deep a tree may be that is copied to another filesystem or comes out of an archive. A copy holds two handles
/// for each level, and 1 024 of them is all a process gets by default. Removing and listing have no such limit.
pub const DEPTH_MAX: usize = 128;
