//! The identity of a server.

use std::ffi::OsString;

use process::ProcessSpec;

/// The identity of a server: sessions with equal keys share it. The directory is not part of it, because a server serves any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ServerKey {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    env_remove: Vec<OsString>,
    env_clear: bool,
}

impl ServerKey {
    pub(crate) fn new(spec: &ProcessSpec) -> Self {
        let (mut env, mut env_remove) = (spec.env.clone(), spec.env_remove.clone());
        env.sort();
        env_remove.sort();
        Self {
            program: spec.program.clone(),
            args: spec.args.clone(),
            env,
            env_remove,
            env_clear: spec.env_clear,
        }
    }
}
