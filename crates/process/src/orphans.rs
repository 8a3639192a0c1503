//! Orphans: descendants of a child that lost their parent and left the child's group, session and mark behind.
//!
//! The kernel gives orphans to init, where their origin is lost. A process that is a *subreaper* gets the orphans of all its
//! descendants instead. A process directly below it that it did not start is then an orphan of one of its children; if
//! only one child can have started it, it belongs to that child.

#[cfg(target_os = "linux")]
mod child_registry;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::io;

#[cfg(target_os = "linux")]
pub(crate) use child_registry::{
    ChildRegistration, OrphanOwner, find_owner, has_children, is_subreaper, reap, spawn_registered,
};
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{ChildRegistration, reap, spawn_registered};

/// Adopts and reaps the orphans below this process.
#[derive(Debug)]
pub struct OrphanReaper(());

impl OrphanReaper {
    /// Makes this process the subreaper of all its descendants. From then on all its children must be started by this crate.
    /// Children that it already has are left alone; while they run, an orphan may be theirs, so it is not killed.
    ///
    /// It has an effect only on Linux.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn enable() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        child_registry::become_subreaper()?;
        Ok(Self(()))
    }

    /// Reaps dead orphans, which nothing else waits for, until it is cancelled.
    ///
    /// # Errors
    /// When SIGCHLD cannot be watched.
    pub async fn reap_orphans(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        child_registry::reap_orphans().await?;
        std::future::pending().await
    }
}
