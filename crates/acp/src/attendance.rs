//! Who is there for an instance: readers of its stream, and messages on their way.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use journal::{Item, Reader};
use tokio::sync::watch;

/// Counts who is there. Cheap to clone; clones count the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attendance(Arc<watch::Sender<Count>>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    here: usize,
    /// How many ever came, so that one who came and left is noticed.
    came: u64,
    /// Nobody may come any more.
    over: bool,
}

impl Attendance {
    /// Counts somebody, until that is dropped; `None` once it is over.
    pub(crate) fn attend(&self) -> Option<Attending> {
        let mut over = false;
        self.0.send_if_modified(|count| {
            over = count.over;
            if !over {
                count.here += 1;
                count.came += 1;
            }
            !over
        });
        (!over).then(|| Attending(Some(self.clone())))
    }

    /// Waits until nobody has been there for `linger`. From then on nobody can come.
    pub(crate) async fn deserted(&self, linger: Duration) {
        let mut counts = self.0.subscribe();
        loop {
            let Ok(left) = counts.wait_for(|count| count.here == 0).await.map(|count| *count) else { return };
            if tokio::time::timeout(linger, counts.changed()).await.is_err() && self.close(left) {
                return;
            }
        }
    }

    /// Ends it, unless somebody came since it was like that.
    fn close(&self, like: Count) -> bool {
        self.0.send_if_modified(|count| {
            let close = *count == like;
            count.over |= close;
            close
        })
    }
}

/// Somebody who is there, or need not be counted.
#[derive(Debug, Default)]
pub(crate) struct Attending(Option<Attendance>);

impl Drop for Attending {
    fn drop(&mut self) {
        if let Some(Attendance(counts)) = &self.0 {
            counts.send_modify(|count| count.here -= 1);
        }
    }
}

/// A reader of the stream of an instance, which is there for it.
#[derive(Debug)]
pub struct Listener {
    pub(crate) reader: Reader,
    pub(crate) _attending: Attending,
}

impl Listener {
    /// The next of what the agent says; `None` once nothing will come any more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        self.reader.poll_next(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINGER: Duration = Duration::from_secs(10);

    /// Whether it is over after so many seconds.
    async fn is_over(attendance: &Attendance, seconds: u64) -> bool {
        tokio::time::timeout(Duration::from_secs(seconds), attendance.deserted(LINGER)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_over_when_nobody_was_there_for_long_enough() {
        let attendance = Attendance::default();
        assert!(!is_over(&attendance, 9).await);
        let (one, two) = (attendance.attend().unwrap(), attendance.attend().unwrap());
        assert!(!is_over(&attendance, 1000).await);
        drop(one);
        assert!(!is_over(&attendance, 1000).await);
        drop(two);
        assert!(is_over(&attendance, 11).await);
        assert!(attendance.attend().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_and_leaves_starts_the_time_anew() {
        let attendance = Attendance::default();
        let mut deserted = std::pin::pin!(attendance.deserted(LINGER));
        for _ in 0..3 {
            assert!(tokio::time::timeout(Duration::from_secs(9), &mut deserted).await.is_err());
            drop(attendance.attend().unwrap());
        }
        assert!(tokio::time::timeout(Duration::from_secs(11), deserted).await.is_ok());
    }
}
