//! Whatever happens to whom, on real sockets: what somebody saw is what happened.

mod leg;
mod world;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use client::WorkerStream;
use fastrand::Rng;
use protocol::observation::{ObservationFrame, ResumeOutcome, StreamControl};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{bus::Bus, viewer::Notebook};
use leg::Fault;
use world::World;

/// How many histories there are, and how many of them at a time.
const HISTORIES: u64 = 2_000;
const WORLDS: u64 = 16;

/// How long all may take to be well once nothing is wrong any more; a starved machine takes its time.
const WELL_MAX: Duration = Duration::from_secs(40);

/// Somebody who watches, goes away and comes back, as the rules say.
struct Viewer {
    watched: Option<WorkerStream>,
    notebook: Notebook,
    tally: Tally,
}

/// What happened to those who watched: that it did shows that the faults were some.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    /// How often a stream ended before its time.
    cut_off: usize,
    /// How often they were told to begin anew.
    begun_anew: usize,
}

impl Viewer {
    /// Reads a frame if there is one soon; comes back if the stream is over.
    async fn read(&mut self, world: &World, bus: &Bus) -> bool {
        let Some(watched) = &mut self.watched else {
            self.watched = world.watch(bus, self.notebook.cursor.clone()).await;
            return true;
        };
        match timeout(Duration::from_millis(4), watched.next()).await {
            Err(_) => return false,
            Ok(Ok(Some((_, frame)))) => {
                self.notebook.write(&frame);
                let anew = match &frame {
                    ObservationFrame::Diagnostic { diagnostic } => diagnostic.code.contains("cursor"),
                    ObservationFrame::Control { control } => matches!(
                        control,
                        StreamControl::Resumed { resume: ResumeOutcome::Reset | ResumeOutcome::Gap }
                    ),
                    ObservationFrame::Event { .. } => false,
                };
                if anew {
                    self.notebook.forget();
                    self.tally.begun_anew += 1;
                }
            }
            Ok(Ok(None) | Err(_)) => {
                self.watched = None;
                self.tally.cut_off += 1;
            }
        }
        true
    }

    /// As much was seen as happened, and the state is what it comes to.
    fn is_done(&self, bus: &Bus) -> bool {
        let Notebook { projection, begun, log, .. } = &self.notebook;
        projection.as_ref().is_some_and(|known| known.snapshot() == bus.snapshot())
            && *begun as usize + log.len() >= bus.events().len()
    }
}

fn fault(random: &mut Rng) -> Fault {
    match random.u8(0..10) {
        0..3 => Fault::Cut,
        3..5 => Fault::HalfOpen,
        5 => Fault::Down,
        6..8 => Fault::Late(Duration::from_millis(random.u64(1..100))),
        _ => Fault::Dribble,
    }
}

/// One history: everything that happens, and then that all was seen.
async fn live(world: &mut World, bus: &Arc<Bus>, random: &mut Rng) -> Tally {
    let mut viewer = Viewer { watched: None, notebook: Notebook::default(), tally: Tally::default() };
    for _ in 0..random.usize(3..11) {
        match random.u8(0..24) {
            0..7 => bus.publish(random.usize(1..8)),
            7 => bus.publish(random.usize(10..40)),
            8..14 => {
                for _ in 0..random.usize(1..12) {
                    if !viewer.read(world, bus).await {
                        break;
                    }
                }
            }
            14..17 => world.up.suffer(fault(random)),
            17..20 => world.down.suffer(fault(random)),
            20 => {
                world.up.heal();
                world.down.heal();
            }
            21 => viewer.watched = None,
            22 => match random.u8(0..3) {
                0 => bus.be_born_again(),
                1 => bus.keep(random.usize(0..20)),
                _ => world.restart_runtime().await,
            },
            _ => world.restart_hub().await,
        }
    }
    world.up.heal();
    world.down.heal();
    bus.publish(1);
    let well = async {
        while !viewer.is_done(bus) {
            viewer.read(world, bus).await;
        }
    };
    let is_well = timeout(WELL_MAX, well).await.is_ok();
    assert!(is_well, "the last event never came: {} of {}", viewer.notebook.log.len(), bus.events().len());
    let events = bus.events();
    assert_eq!(viewer.notebook.log, events[viewer.notebook.begun as usize..], "the log is what happened");
    viewer.tally
}

/// The histories of one world, one after the other.
async fn histories(seeds: impl Iterator<Item = u64>) -> Tally {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut world = World::new(directory.path().to_owned()).await;
    let mut all = Tally::default();
    for seed in seeds {
        let bus = world.worker(&format!("w{seed}"));
        let mut guard = Told(seed, true);
        let Tally { cut_off, begun_anew } = live(&mut world, &bus, &mut Rng::with_seed(seed)).await;
        (all.cut_off, all.begun_anew) = (all.cut_off + cut_off, all.begun_anew + begun_anew);
        // Nobody watches any more: the hub gives the worker up.
        let left = async {
            while bus.open.load(Ordering::SeqCst) > 0 {
                sleep(Duration::from_millis(1)).await;
            }
        };
        assert!(timeout(WELL_MAX, left).await.is_ok(), "a worker is followed for nobody");
        guard.1 = false;
    }
    all
}

/// Says which history failed.
struct Told(u64, bool);

impl Drop for Told {
    fn drop(&mut self) {
        if self.1 {
            eprintln!("the history with the seed {} failed", self.0);
        }
    }
}

fn sockets() -> usize {
    let all = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    all.filter(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().starts_with("socket:"))
    })
    .count()
}

/// observation-33, observation-48, observation-52, observation-53, observation-61, observation-62, observation-75: cuts, half-open connections, connects that overtake each other, bytes that
/// come one by one, restarts of both sides, on real sockets: the union of what somebody saw is what happened, in order and
/// each once, or they were told to begin anew. In the end no task and no socket is left.
#[test]
fn what_somebody_saw_is_what_happened_on_real_sockets() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let before = sockets();
    runtime.block_on(async {
        let mut worlds = JoinSet::new();
        for world in 0..WORLDS {
            worlds.spawn(histories((0..HISTORIES).filter(move |seed| seed % WORLDS == world)));
        }
        let mut all = Tally::default();
        while let Some(ended) = worlds.join_next().await {
            let Tally { cut_off, begun_anew } = ended.unwrap();
            (all.cut_off, all.begun_anew) = (all.cut_off + cut_off, all.begun_anew + begun_anew);
        }
        println!("{all:?}");
        assert!(all.cut_off > HISTORIES as usize / 4 && all.begun_anew > HISTORIES as usize / 50, "{all:?}");
        let left = || (runtime.metrics().num_alive_tasks(), sockets().saturating_sub(before));
        let over = async {
            while left() != (0, 0) {
                sleep(Duration::from_millis(5)).await;
            }
        };
        assert!(timeout(WELL_MAX, over).await.is_ok(), "tasks and sockets are left: {:?}", left());
    });
}
