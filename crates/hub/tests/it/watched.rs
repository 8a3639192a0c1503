//! What somebody sees who watches a worker.

use std::{sync::atomic::Ordering, time::Duration};

use hub::{BACKLOG, Feeds, SigningKey};
use protocol::{
    Event,
    observation::{DiagnosticKind, ObservationFrame, ResumeOutcome, StreamCloseCode, StreamControl},
};

use crate::{
    bus::{Bus, worker},
    viewer::{Notebook, Viewer, runtime},
};

fn feeds() -> (tempfile::TempDir, Feeds) {
    let directory = tempfile::tempdir().unwrap();
    let feeds = Feeds::new(SigningKey::open(&directory.path().join("key")).unwrap(), BACKLOG);
    (directory, feeds)
}

/// observation-34, observation-41, observation-60, observation-71: everybody gets what the worker has come to, and then only what is new; the runtime is
/// asked once for all of them.
#[tokio::test(start_paused = true)]
async fn all_who_watch_share_one_stream_of_the_runtime() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    bus.publish(3);
    let mut first = Viewer::new(&feeds, &bus, None);
    let begun = first.envelope().await;
    assert_eq!(begun.payload, Event::Snapshot(Box::new(bus.snapshot())));
    assert_eq!((begun.runtime_id, begun.worker_id), (Some(runtime()), worker()));
    assert_eq!(begun.event_id, format!("snapshot:{}", begun.cursor));
    bus.publish(2);
    for event in &bus.events()[3..] {
        let envelope = first.envelope().await;
        assert_eq!((&envelope.payload, envelope.replay), (event, false));
        assert_eq!(envelope.event_id, envelope.cursor);
    }
    let mut later: Vec<_> = (0..20).map(|_| Viewer::new(&feeds, &bus, None)).collect();
    for viewer in &mut later {
        let begun = viewer.envelope().await;
        assert_eq!(begun.payload, Event::Snapshot(Box::new(bus.snapshot())));
    }
    bus.publish(1);
    for viewer in &mut later {
        assert_eq!(viewer.envelope().await.payload, bus.events()[5]);
    }
    assert_eq!((bus.opened.load(Ordering::SeqCst), feeds.len()), (1, 1));
}

/// observation-34: the runtime's stream outlives the last who watched for a while, and is then given up.
#[tokio::test(start_paused = true)]
async fn a_worker_that_nobody_watches_is_given_up_after_a_while() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    drop(viewer);
    tokio::time::sleep(Duration::from_secs(20)).await;
    Viewer::new(&feeds, &bus, None).envelope().await;
    assert_eq!((bus.opened.load(Ordering::SeqCst), bus.open.load(Ordering::SeqCst)), (1, 1));
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(bus.open.load(Ordering::SeqCst), 1, "it waits from the last one on");
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((bus.open.load(Ordering::SeqCst), feeds.len()), (0, 0));
}

/// observation-32, observation-35, observation-53: when the runtime goes away, those who watch stay, are told, and miss nothing.
#[tokio::test(start_paused = true)]
async fn a_runtime_that_comes_back_is_taken_up_where_it_was() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    bus.set_down(true);
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::UpstreamDisconnect);
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::RuntimeUnavailable);
    bus.publish(2);
    tokio::time::sleep(Duration::from_secs(20)).await;
    bus.set_down(false);
    let resumed = ObservationFrame::Control { control: StreamControl::Resumed { resume: ResumeOutcome::Ok } };
    assert_eq!(viewer.next().await.unwrap(), resumed, "and not once for each time that it was tried");
    for event in bus.events() {
        let envelope = viewer.envelope().await;
        assert_eq!((envelope.payload, envelope.replay), (event, false));
    }
}

/// observation-33, observation-52: what the runtime says twice is shown once.
#[tokio::test(start_paused = true)]
async fn what_is_said_twice_is_shown_once() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    bus.publish(3);
    for _ in 0..3 {
        viewer.envelope().await;
    }
    bus.stutter(2);
    bus.cut();
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::UpstreamDisconnect);
    bus.publish(1);
    assert_eq!(viewer.envelope().await.payload, bus.events()[3]);
    let late = Viewer::new(&feeds, &bus, None).envelope().await;
    assert_eq!(late.payload, Event::Snapshot(Box::new(bus.snapshot())), "nor does it count twice");
}

/// observation-61, observation-75: a runtime that is cut off while it tells what was missed tells it once more.
#[tokio::test(start_paused = true)]
async fn what_was_missed_is_told_to_the_end() {
    let (directory, first) = feeds();
    let bus = Bus::new();
    let cursor = Viewer::new(&first, &bus, None).envelope().await.cursor;
    bus.publish(5);
    for frames in 1..9 {
        let feeds = Feeds::new(SigningKey::open(&directory.path().join("key")).unwrap(), BACKLOG);
        bus.cut_next_after(frames);
        let mut viewer = Viewer::new(&feeds, &bus, Some(&cursor));
        let mut seen = Notebook::default();
        while seen.log.len() < 5 {
            seen.write(&viewer.next().await.unwrap());
        }
        assert_eq!(seen.log, bus.events(), "cut after {frames}");
    }
}

/// observation-27, observation-35, observation-56: what is lost for good is told, and followed by what there is now: a gap if the
/// stream is the same, and a reset if its runtime has started over.
#[tokio::test(start_paused = true)]
async fn what_the_runtime_forgot_is_begun_anew() {
    for rebirth in [false, true] {
        let (_directory, feeds) = feeds();
        let bus = Bus::new();
        bus.publish(1);
        let mut viewer = Viewer::new(&feeds, &bus, None);
        let before = viewer.envelope().await.cursor;
        bus.set_down(true);
        match rebirth {
            true => bus.be_born_again(),
            false => bus.keep(3),
        }
        bus.publish(10);
        bus.set_down(false);
        let mut notebook = Notebook::default();
        let mut outcomes = Vec::new();
        while !notebook.projection.as_ref().is_some_and(|known| known.snapshot() == bus.snapshot()) {
            let frame = viewer.next().await.unwrap();
            if let ObservationFrame::Control { control: StreamControl::Resumed { resume } } = &frame {
                outcomes.push(*resume);
            }
            notebook.write(&frame);
        }
        assert_eq!(outcomes, [if rebirth { ResumeOutcome::Reset } else { ResumeOutcome::Gap }]);
        assert_eq!(notebook.log, [], "nothing but the snapshot");
        // A cursor from before is of no use any more.
        let end = Viewer::new(&feeds, &bus, Some(&before)).end().await;
        assert_eq!(end.diagnostic.unwrap().known().unwrap().1, DiagnosticKind::CursorExpired);
        assert_eq!(end.code, StreamCloseCode::POLICY);
    }
}

/// observation-51, observation-60: after a cursor comes everything that was missed, marked as what the snapshot covers.
#[tokio::test(start_paused = true)]
async fn a_cursor_goes_on() {
    for restart in [false, true] {
        let (directory, mut feeds) = feeds();
        let bus = Bus::new();
        let mut viewer = Viewer::new(&feeds, &bus, None);
        let cursor = viewer.envelope().await.cursor;
        bus.publish(5);
        if restart {
            drop(viewer);
            feeds = Feeds::new(SigningKey::open(&directory.path().join("key")).unwrap(), BACKLOG);
        } else {
            // Only what the hub has heard can be replayed as such.
            for _ in 0..5 {
                viewer.envelope().await;
            }
        }
        let mut again = Viewer::new(&feeds, &bus, Some(&cursor));
        let begun = again.envelope().await;
        assert_eq!(begun.payload, Event::Snapshot(Box::new(bus.snapshot())));
        assert_eq!(
            again.next().await.unwrap(),
            ObservationFrame::Control { control: StreamControl::Resumed { resume: ResumeOutcome::Ok } }
        );
        for event in bus.events() {
            let envelope = again.envelope().await;
            assert_eq!((envelope.payload, envelope.replay), (event, true), "restart: {restart}");
        }
        assert_eq!(again.next().await.unwrap(), ObservationFrame::Control { control: StreamControl::Live });
        bus.publish(1);
        let envelope = again.envelope().await;
        assert_eq!((&envelope.payload, envelope.replay), (&bus.events()[5], false));
    }
}

/// observation-55, observation-59, observation-63: a cursor that is no good is told, each in its own way.
#[tokio::test(start_paused = true)]
async fn a_cursor_that_is_no_good_is_told() {
    let (_directory, feeds) = feeds();
    let (_other, elsewhere) = self::feeds();
    let bus = Bus::new();
    let theirs = Viewer::new(&elsewhere, &bus, None).envelope().await.cursor;
    for (cursor, trouble) in
        [("nonsense", DiagnosticKind::CursorMalformed), (&theirs, DiagnosticKind::CursorMalformed)]
    {
        let end = Viewer::new(&feeds, &bus, Some(cursor)).end().await;
        assert_eq!(end.diagnostic.unwrap().known().unwrap().1, trouble);
    }
    // The hub keeps so much, and no more.
    let mut viewer = Viewer::new(&feeds, &bus, None);
    let first = viewer.envelope().await.cursor;
    for _ in 0..11 {
        bus.publish(100);
        for _ in 0..100 {
            viewer.envelope().await;
        }
    }
    let end = Viewer::new(&feeds, &bus, Some(&first)).end().await;
    assert_eq!(end.diagnostic.unwrap().known().unwrap().1, DiagnosticKind::CursorExpired);
}

/// observation-47: who does not read is told so, with where to go on.
#[tokio::test(start_paused = true)]
async fn who_does_not_read_is_told_and_can_come_back() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut slow = Viewer::new(&feeds, &bus, None);
    let mut quick = Viewer::new(&feeds, &bus, None);
    slow.envelope().await;
    quick.envelope().await;
    bus.publish(1);
    let last = slow.envelope().await.cursor;
    quick.envelope().await;
    for _ in 0..20 {
        bus.publish(100);
        for _ in 0..100 {
            quick.envelope().await;
        }
    }
    let end = slow.end().await;
    let diagnostic = end.diagnostic.unwrap();
    assert_eq!(
        (diagnostic.known().unwrap().1, end.code),
        (DiagnosticKind::Lagged, StreamCloseCode::TRY_LATER)
    );
    assert_eq!(diagnostic.details.unwrap()["cursor"], last.as_str());
}

/// observation-46, observation-65: a worker that is not there, or no more, is told as that.
#[tokio::test(start_paused = true)]
async fn a_worker_that_is_not_there_is_told() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    assert!(viewer.is_there().await);
    bus.publish(1);
    viewer.envelope().await;
    bus.end();
    let end = viewer.end().await;
    assert_eq!(end.diagnostic.unwrap().known().unwrap().1, DiagnosticKind::WorkerNotFound);
    let mut late = Viewer::new(&feeds, &bus, None);
    assert!(!late.is_there().await);
}

/// observation-36: nonsense is told, and does not end anything.
#[tokio::test(start_paused = true)]
async fn nonsense_is_told_and_survived() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    bus.talk_nonsense();
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::MalformedFrame);
    bus.publish(1);
    assert_eq!(viewer.envelope().await.payload, bus.events()[0]);
}

/// observation-64: an event that the runtime could not encode is reported and left out. The stream goes on without another
/// connection.
#[tokio::test(start_paused = true)]
async fn an_event_that_cannot_be_encoded_is_skipped() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    bus.diagnose(DiagnosticKind::SerializeFailed);
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::SerializeFailed);
    bus.publish(1);
    assert_eq!(viewer.envelope().await.payload, bus.events()[0]);
    assert_eq!(bus.opened.load(Ordering::SeqCst), 1);
}

/// observation-55, observation-65: a worker that cannot be observed for now is reported as that, and the viewer stays.
#[tokio::test(start_paused = true)]
async fn a_worker_that_is_unavailable_is_reported_as_that() {
    let (_directory, feeds) = feeds();
    let bus = Bus::new();
    let mut viewer = Viewer::new(&feeds, &bus, None);
    viewer.envelope().await;
    bus.diagnose(DiagnosticKind::WorkerUnavailable);
    assert_eq!(viewer.diagnostic().await, DiagnosticKind::WorkerUnavailable);
    bus.publish(1);
    assert_eq!(viewer.envelope().await.payload, bus.events()[0]);
    assert_eq!(bus.opened.load(Ordering::SeqCst), 2, "the hub has tried again");
}
