//! Whose a process is that has lost its parent, and left the group, the session and the mark of its child behind.
//!
//! The system gives whoever loses their parent to the first process of all, where nobody finds them again. A process that
//! [takes them in](Orphans::take_in) instead is above everybody that its children ever started. Whoever is directly below
//! it and was not started here is an orphan of one of its children: if there is only one, that is whose it is.

#[cfg(target_os = "linux")]
mod book;
#[cfg(not(target_os = "linux"))]
mod elsewhere;

use std::io;

#[cfg(target_os = "linux")]
pub(crate) use book::{Listing, Whose, are_taken_in, born, reap, whose};
#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{Listing, born, reap};

/// The orphans of this process.
#[derive(Debug)]
pub struct Orphans(());

impl Orphans {
    /// Takes in whoever loses their parent below this process, from now on. All children of the process must be started by
    /// this crate. Those that it had before are left alone, and then nobody is taken for an orphan of ours without a doubt.
    ///
    /// Only Linux can do that; elsewhere nobody is taken in.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn take_in() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        book::open()?;
        Ok(Self(()))
    }

    /// Buries those that have died, for as long as it runs: nobody else waits for them.
    ///
    /// # Errors
    /// If nobody can be told of the end of children.
    pub async fn bury(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        book::bury().await?;
        std::future::pending().await
    }
}
