//! Nothing leads out of a root: paths by the thousand, and links that are swapped in meanwhile (relay-132).

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use futures_util::StreamExt;
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, TestRunner},
};
use protocol::relay::{RawJson, RelayErrorCode, RelayPath};
use relay::Part;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use testkit::within;

use super::{
    World,
    jail::{METHODS, more},
};
use crate::support::SOON;

/// How often it is tried to get out while links are swapped.
const TRIES: usize = 100_000;

/// How many go on at once.
const AT_ONCE: usize = 8;

/// All that a request gives, frames and outcome, as text.
async fn all_of(world: &World, method: &str, path: &str) -> (String, Option<RelayErrorCode>) {
    let mut params = more(method);
    params["root_id"] = "main".into();
    params["path"] = path.into();
    let mut call = world.lent.call(method, RawJson::from_value(&params), None).await;
    let mut text = String::new();
    loop {
        match within(SOON, call.next()).await.unwrap() {
            Part::Stream(frame) => text.push_str(frame.data.as_str()),
            Part::Outcome(Ok(result)) => return (text + result.as_str(), None),
            Part::Outcome(Err(error)) => return (text, Some(error.code)),
        }
    }
}

/// What there is outside is named and says `secret`, and nothing inside does.
fn furnish(main: &Path, outside: &Path) {
    for entry in fs::read_dir(main).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            fs::remove_dir_all(entry.path()).unwrap();
        } else {
            fs::remove_file(entry.path()).unwrap();
        }
    }
    fs::create_dir_all(main.join("dir/sub")).unwrap();
    fs::write(main.join("dir/a"), "public").unwrap();
    fs::write(main.join("a"), "public").unwrap();
    let links: [(&Path, &str); 9] = [
        (outside, "absolute"),
        ("../outside".as_ref(), "relative"),
        ("dir/chain".as_ref(), "chain"),
        ("../relative".as_ref(), "dir/chain"),
        ("..".as_ref(), "up"),
        ("dir".as_ref(), "inside"),
        ("../outside/secret".as_ref(), "file"),
        ("/proc/self/root".as_ref(), "proc"),
        ("../../outside/secret".as_ref(), "dir/file"),
    ];
    for (target, name) in links {
        symlink(target, main.join(name)).unwrap();
    }
}

fn paths() -> impl Strategy<Value = String> {
    let parts = vec![
        "a",
        "dir",
        "sub",
        "..",
        "..",
        ".",
        "",
        "absolute",
        "relative",
        "chain",
        "up",
        "inside",
        "file",
        "proc",
        "secret",
        "outside",
        "main",
        "docs",
        "tmp",
        "SECRET",
        "Outside",
        "...",
        "..;",
        "%2e%2e",
        "..%2f",
        "\u{ff0e}\u{ff0e}",
    ];
    vec(select(parts), 1..6).prop_map(|parts| parts.join("/"))
}

/// Where a path leads for somebody who joins and opens it.
fn naive(main: &Path, path: &str) -> Option<PathBuf> {
    fs::canonicalize(main.join(path)).ok()
}

/// relay-132, relay-163: whatever the path and the method, nothing is read or changed outside, and what would be is refused.
#[test]
fn no_path_leads_out() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let world = runtime.block_on(World::in_memory());
    let (main, outside) = (world.main(""), world.dir.path().join("outside"));
    let main = fs::canonicalize(main).unwrap();
    let (tried, escaped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let methods: Vec<_> =
        METHODS.map(|(method, _)| method).into_iter().filter(|it| *it != "file.watch").collect();
    let mut runner = TestRunner::new(Config { cases: 4000, failure_persistence: None, ..Config::default() });
    let result = runner.run(&(paths(), select(methods)), |(path, method)| {
        furnish(&main, &outside);
        let normal = path.parse::<RelayPath>().ok().map(|path| path.normalized());
        let leads_out =
            |path: &RelayPath| naive(&main, path.as_str()).is_some_and(|at| !at.starts_with(&main));
        // The control: the same paths, joined and opened as they are, do lead out.
        tried.fetch_add(1, Relaxed);
        let is_out = naive(&main, &path).is_some_and(|at| !at.starts_with(&main));
        escaped.fetch_add(usize::from(is_out), Relaxed);
        let must_be = match &normal {
            None => Some(RelayErrorCode::InvalidRequest),
            Some(None) => Some(RelayErrorCode::PermissionDenied),
            // A link is deleted itself.
            Some(Some(path)) if method == "file.delete" => {
                let parent = Path::new(path.as_str()).parent().and_then(Path::to_str).unwrap_or_default();
                leads_out(&parent.parse().unwrap()).then_some(RelayErrorCode::PermissionDenied)
            }
            Some(Some(path)) => leads_out(path).then_some(RelayErrorCode::PermissionDenied),
        };
        let (text, code) = runtime.block_on(all_of(&world, method, &path));
        prop_assert!(!text.contains("secret"), "{method} {path}: {text}");
        if must_be.is_some() {
            prop_assert_eq!(code, must_be, "{} {}", method, path);
        }
        world.outside_is_untouched();
        Ok(())
    });
    result.unwrap();
    let (tried, escaped) = (tried.into_inner(), escaped.into_inner());
    assert!(escaped * 20 > tried, "only {escaped} of {tried} paths are of any use");
}

/// Swaps a directory for a link that leads out, and a file for another, as fast as it can.
fn swap(main: &Path, stop: &AtomicBool) -> usize {
    let exchange = |one: &str, two: &str| {
        let _ = renameat_with(CWD, main.join(one), CWD, main.join(two), RenameFlags::EXCHANGE);
    };
    let mut swaps = 0;
    while !stop.load(Relaxed) {
        exchange("d", "d_evil");
        exchange("f", "f_evil");
        // Whoever writes may replace the link itself, which is no way out; then there is another.
        if !["f", "f_evil"].iter().any(|name| main.join(name).is_symlink()) {
            let _ = fs::remove_file(main.join("f_evil"));
            let _ = symlink("../outside/secret", main.join("f_evil"));
        }
        swaps += 1;
    }
    swaps
}

fn lay(world: &World, target: &Path) {
    fs::create_dir_all(world.main("d/sub")).unwrap();
    fs::write(world.main("d/secret"), "public").unwrap();
    fs::write(world.main("f"), "public").unwrap();
    symlink(target, world.main("d_evil")).unwrap();
    symlink(target.join("secret"), world.main("f_evil")).unwrap();
}

/// Runs something while links are swapped.
async fn while_swapping(world: &World, work: impl Future<Output = ()>) {
    let stop = AtomicBool::new(false);
    let main = world.main("");
    // Also when a test fails, or the swapper goes on for ever.
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let swaps = std::thread::scope(|scope| {
        let swapper = scope.spawn(|| swap(&main, &stop));
        {
            let _stop = Stop(&stop);
            tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(work));
        }
        swapper.join().unwrap()
    });
    assert!(swaps > 1000, "{swaps}");
}

/// What is tried: mostly what looks at something.
const ATTEMPTS: [(&str, &str); 10] = [
    ("file.read", "d/secret"),
    ("file.read", "f"),
    ("file.stat", "d/secret"),
    ("file.list", "d"),
    ("file.search", "d"),
    ("file.search", ""),
    ("file.write", "d/secret"),
    ("file.write", "f"),
    ("file.mkdir", "d/new"),
    ("file.delete", "d/new"),
];

/// relay-132: zero escapes in 100 000 tries.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_swapped_in_during_a_call_never_leads_out() {
    let world = World::in_memory().await;
    // Only outside is a file of this name, and this in a file.
    fs::write(world.dir.path().join("outside/secret"), "secret").unwrap();
    lay(&world, "../outside".as_ref());
    let tried = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    let world = &world;
    let work = async {
        let attempt = async |at: usize| {
            let (method, path) = ATTEMPTS[at % ATTEMPTS.len()];
            let (text, code) = all_of(world, method, path).await;
            let content = text.contains("\"content\":\"secret\"") || text.contains("\"text\":\"secret\"");
            assert!(!content, "{method} {path}: {text}");
            tried.fetch_add(1, Relaxed);
            refused.fetch_add(usize::from(code == Some(RelayErrorCode::PermissionDenied)), Relaxed);
        };
        futures_util::stream::iter(0..TRIES).for_each_concurrent(AT_ONCE, attempt).await;
    };
    while_swapping(world, work).await;
    world.outside_is_untouched();
    let (tried, refused) = (tried.into_inner(), refused.into_inner());
    assert_eq!(tried, TRIES);
    assert!(refused * 100 > tried, "the link was met only {refused} times");
}

/// The control of the test above: who looks first and then opens by name is led out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_is_swapped_in_leads_out_whoever_looks_first_and_opens_by_name() {
    let world = World::in_memory().await;
    lay(&world, "../outside".as_ref());
    let main = fs::canonicalize(world.main("")).unwrap();
    let mut escapes = 0;
    while_swapping(&world, async {
        for _ in 0..TRIES {
            let inside = naive(&main, "d/secret").is_some_and(|at| at.starts_with(&main));
            if inside && fs::read_to_string(main.join("d/secret")).is_ok_and(|text| text == "secret") {
                escapes += 1;
            }
        }
    })
    .await;
    assert!(escapes > 0);
}
