//! On other systems orphans are not adopted, so children need no registry.

use std::{io, process::Child};

use rustix::process::Pid;

use crate::{child_mark::ChildMark, group_leader};

#[derive(Debug)]
pub(crate) struct ChildRegistration;

impl ChildRegistration {
    pub(crate) fn mark_ending(&self) {}
}

pub(crate) fn spawn_registered(
    _mark: &ChildMark,
    spawn: impl FnOnce() -> io::Result<Child>,
) -> io::Result<(Child, ChildRegistration)> {
    Ok((spawn()?, ChildRegistration))
}

pub(crate) fn reap(id: Pid) {
    group_leader::reap(id);
}
