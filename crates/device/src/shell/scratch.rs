//! The memory that commands keep files in: `/tmp` and `/dev/shm` of a sandbox are nothing else, and nobody who runs out of
//! memory is told who has it.

use std::sync::Arc;

use parking_lot::Mutex;

/// How much one command may keep at most. Builds keep less there.
const SCRATCH_BYTES_MAX: u64 = 1 << 30;

/// Of what is to be had by whoever comes first one takes this part, so that something is left for the next.
const TAKEN_AT_ONCE: u64 = 4;

/// What all commands together may keep, however many there are.
///
/// Half of it is shared out evenly among as many as may run. Whoever comes gets a part of the other half besides: most of
/// the time few run, and a build needs more than a share of very many.
#[derive(Debug)]
pub(super) struct Scratch {
    share: u64,
    left: Mutex<u64>,
}

/// What one command may keep, until this is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    scratch: Arc<Scratch>,
    taken: u64,
}

impl Scratch {
    pub(super) fn new(bytes: u64, commands_max: usize) -> Arc<Self> {
        let half = bytes / 2;
        let share = half / u64::try_from(commands_max).unwrap_or(u64::MAX).max(1);
        Arc::new(Self { share: share.min(SCRATCH_BYTES_MAX), left: Mutex::new(half) })
    }

    /// What the next command may keep.
    pub(super) fn lease(self: &Arc<Self>) -> Lease {
        let mut left = self.left.lock();
        let taken = (*left / TAKEN_AT_ONCE).min(SCRATCH_BYTES_MAX - self.share);
        *left -= taken;
        Lease { scratch: self.clone(), taken }
    }
}

impl Lease {
    /// How much that is.
    pub(super) fn bytes(&self) -> u64 {
        self.scratch.share + self.taken
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        *self.scratch.left.lock() += self.taken;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_comes_first_has_room_for_a_build() {
        let check = |gib: u64, expected_mib: u64| {
            assert_eq!(Scratch::new(gib << 30, 64).lease().bytes() >> 20, expected_mib, "{gib} GiB");
        };
        check(2, 272);
        check(4, 544);
        check(8, 1024);
        check(1024, 1024);
    }

    proptest! {
        /// relay-138: all together never have more than there is for them, and nobody has nothing.
        #[test]
        fn all_together_stay_within_what_there_is(
            bytes in 1_u64 << 20..1 << 40,
            commands in 1_usize..100,
            ended in proptest::collection::vec(any::<proptest::sample::Index>(), 0..50),
        ) {
            let scratch = Scratch::new(bytes, commands);
            let mut leases: Vec<_> = (0..commands).map(|_| scratch.lease()).collect();
            let first = leases[0].bytes();
            for index in ended {
                drop(leases.swap_remove(index.index(leases.len())));
                leases.push(scratch.lease());
            }
            let all: u64 = leases.iter().map(Lease::bytes).sum();
            prop_assert!(all <= bytes, "{all} of {bytes}");
            let one = |lease: &Lease| (1..=SCRATCH_BYTES_MAX).contains(&lease.bytes());
            prop_assert!(leases.iter().all(one));
            drop(leases);
            prop_assert_eq!(scratch.lease().bytes(), first, "all of it came back");
        }
    }
}
