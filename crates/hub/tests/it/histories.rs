//! Whatever happens to whom: what somebody saw is what happened.

use std::{num::NonZeroU64, time::Duration};

use hub::{Feeds, SigningKey};
use journal::Retention;
use proptest::prelude::*;

use crate::{
    bus::Bus,
    viewer::{Notebook, Viewer},
};

/// So little is kept that it often does not do.
const SMALL: Retention =
    Retention { events: NonZeroU64::new(16).unwrap(), bytes: NonZeroU64::new(1 << 20).unwrap() };

#[derive(Debug, Clone)]
enum Step {
    Publish(usize),
    Read(usize),
    Wait(u64),
    Cut,
    Down,
    Up,
    Rebirth,
    /// Somebody goes away and comes back with their cursor.
    ComeBack,
    RestartHub,
    Forget(usize),
    Nonsense,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (1usize..8).prop_map(Step::Publish),
        1 => (10usize..40).prop_map(Step::Publish),
        8 => (1usize..12).prop_map(Step::Read),
        3 => (1u64..4_000).prop_map(Step::Wait),
        2 => Just(Step::Cut),
        1 => Just(Step::Down),
        2 => Just(Step::Up),
        1 => Just(Step::Rebirth),
        4 => Just(Step::ComeBack),
        2 => Just(Step::RestartHub),
        1 => (0usize..20).prop_map(Step::Forget),
        1 => Just(Step::Nonsense),
    ]
}

/// Reads a frame if there is one; when it ended, comes again as the rules say.
async fn read(viewer: &mut Viewer, notebook: &mut Notebook, again: impl Fn(Option<&str>) -> Viewer) -> bool {
    let Ok(frame) = tokio::time::timeout(Duration::from_millis(1), viewer.next()).await else { return false };
    match frame {
        Ok(frame) => notebook.write(&frame),
        Err(end) => {
            let code = end.diagnostic.map(|diagnostic| diagnostic.code).unwrap_or_default();
            if code.contains("cursor") {
                notebook.forget();
            }
            *viewer = again(notebook.cursor.as_deref());
        }
    }
    true
}

async fn live(steps: Vec<Step>) {
    let directory = tempfile::tempdir().unwrap();
    let hub = || Feeds::new(SigningKey::open(&directory.path().join("key")).unwrap(), SMALL);
    let (bus, mut feeds) = (Bus::new(), hub());
    let (mut viewer, mut notebook) = (Viewer::new(&feeds, &bus, None), Notebook::default());
    for step in steps {
        match step {
            Step::Publish(count) => bus.publish(count),
            Step::Read(count) => {
                for _ in 0..count {
                    if !read(&mut viewer, &mut notebook, |cursor| Viewer::new(&feeds, &bus, cursor)).await {
                        break;
                    }
                }
            }
            Step::Wait(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
            Step::Cut => bus.cut(),
            Step::Down => bus.set_down(true),
            Step::Up => bus.set_down(false),
            Step::Rebirth => bus.be_born_again(),
            Step::ComeBack => viewer = Viewer::new(&feeds, &bus, notebook.cursor.as_deref()),
            Step::RestartHub => {
                feeds = hub();
                viewer = Viewer::new(&feeds, &bus, notebook.cursor.as_deref());
            }
            Step::Forget(kept) => bus.keep(kept),
            Step::Nonsense => bus.talk_nonsense(),
        }
    }
    bus.set_down(false);
    bus.publish(1);
    let last = bus.events().pop();
    let mut waited = 0;
    while notebook.log.last() != last.as_ref() {
        if !read(&mut viewer, &mut notebook, |cursor| Viewer::new(&feeds, &bus, cursor)).await {
            tokio::time::sleep(Duration::from_millis(500)).await;
            waited += 1;
            // It may have begun with a snapshot that has the last event already.
            if notebook.projection.as_ref().is_some_and(|known| known.snapshot() == bus.snapshot()) {
                break;
            }
            assert!(waited < 60, "the last event never came");
        }
    }
    let events = bus.events();
    assert_eq!(notebook.log, events[notebook.begun as usize..], "the log is what happened");
    let state = notebook.projection.map(|projection| projection.snapshot());
    assert_eq!(state, Some(bus.snapshot()), "the state is what it comes to");
}

/// observation-33, observation-52, observation-53, observation-61, observation-62: random histories of both sides; the union of what somebody saw is what happened, in
/// order and each once, or they were told to begin anew.
#[test]
fn what_somebody_saw_is_what_happened() {
    let cases = ProptestConfig { cases: 2_000, ..ProptestConfig::default() };
    proptest!(cases, |(steps in proptest::collection::vec(step(), 1..40))| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(live(steps));
    });
}
