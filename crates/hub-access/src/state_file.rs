//! State that one JSON file holds. A change is written to the file before anyone sees it.

use std::{io, path::PathBuf, sync::Arc};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::watch,
    task::block_in_place,
};

use crate::json_file;

/// State that can be stored in a [`StateFile`].
pub trait StoredState: Clone {
    /// The content of the file.
    type Content: Default + Serialize + DeserializeOwned;

    /// The state that the file holds.
    fn from_content(content: Self::Content) -> Self;

    /// The content of the file for this state.
    fn to_content(&self) -> Self::Content;

    /// Removes entries that have expired.
    fn sweep(&mut self, now: Timestamp);
}

/// The current state, and the file that holds it. Clones share both.
#[derive(Clone)]
pub struct StateFile<S>(Arc<SharedState<S>>);

struct SharedState<S> {
    path: PathBuf,
    /// Held during a change. Readers get the previous state until the change is written.
    changing: Mutex<()>,
    state: watch::Sender<Arc<S>>,
}

impl<S: StoredState> StateFile<S> {
    /// Reads the file, if there is one.
    pub fn open(path: PathBuf) -> io::Result<Self> {
        let state = S::from_content(json_file::read(&path)?);
        let (changing, state) = (Mutex::new(()), watch::Sender::new(Arc::new(state)));
        Ok(Self(Arc::new(SharedState { path, changing, state })))
    }

    /// The current state.
    pub fn now(&self) -> Arc<S> {
        self.0.state.borrow().clone()
    }

    /// The current state, and a notification of each change.
    pub fn follow(&self) -> watch::Receiver<Arc<S>> {
        self.0.state.subscribe()
    }

    /// Changes the state and writes the file. The state stays as it was if `change` fails or the file cannot be written;
    /// `file_error` wraps the latter.
    pub fn change<T, E>(
        &self,
        file_error: impl FnOnce(io::Error) -> E,
        change: impl FnOnce(&mut S, Timestamp) -> Result<T, E>,
    ) -> Result<T, E> {
        without_blocking_tasks(|| {
            let _one_at_a_time = self.0.changing.lock();
            let (mut next, now) = (S::clone(&self.now()), Timestamp::now());
            next.sweep(now);
            let done = change(&mut next, now)?;
            json_file::write(&self.0.path, &next.to_content()).map_err(file_error)?;
            self.0.state.send_replace(Arc::new(next));
            Ok(done)
        })
    }
}

/// Runs `work`, which waits for the disk, while other threads take over the tasks of this one.
fn without_blocking_tasks<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        // There is no other thread that could run them.
        _ => work(),
    }
}
