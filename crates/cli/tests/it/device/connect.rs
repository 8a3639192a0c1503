//! A device comes, says what it lends, and comes again.

use super::*;

/// relay-17, relay-18, relay-172: the hello is the first thing that it says, and it needs no desktop.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_says_who_it_is() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    let connected = hub.next().await;
    let hello = &connected.hello;
    assert_eq!((hello.protocol.as_str(), hello.client_id.as_str()), ("ya-environment-relay.v1", "laptop"));
    assert_eq!(
        (hello.client_kind.as_str(), hello.client_version.as_str()),
        ("headless", env!("CARGO_PKG_VERSION"))
    );
    lender.said("connected to http://");
}

/// relay-119, relay-121: it connects again by itself, with the same name.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_cut_off_connects_again() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    let first = hub.next().await;
    first.peer.close("the hub restarts");
    let second = hub.next().await;
    assert_eq!(second.hello.client_id, first.hello.client_id);
    lender.said("; reconnecting");
    let connected = || lender.place.status().unwrap()["connection"]["connectionId"] == "relay_conn_2";
    within_blocking(secs(10), connected);
}

/// relay-157: a token that is no good is not tried for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_the_hub_does_not_want_ends_and_says_so() {
    let hub = StandIn::start().await;
    let place = Place::new();
    std::fs::write(place.path("token"), "tombolo_dev_of_somebody_else").unwrap();
    let mut lender = place.connect(&hub, &[]);
    assert_eq!(lender.ended(), Some(1));
    let log = lender.log();
    assert!(log.contains("A valid bearer token is needed") && !log.contains("somebody_else"), "{log}");
}

/// relay-159: a hub that speaks another version says so by both names; the device tells its owner, and does not try for ever.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_speaks_another_version_ends_and_says_so() {
    let why = "unsupported protocol ya-environment-relay.v1; this side speaks ya-environment-relay.v2";
    let hub = StandIn::refusing(why).await;
    let mut lender = Lender::start(&hub);
    assert_eq!(lender.ended(), Some(1));
    let log = lender.log();
    assert!(log.contains(why), "{log}");
}

/// relay-27, relay-121: a hub for which it was too slow may be faster the next time.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_was_too_slow_tries_again() {
    let hub = StandIn::refusing("no hello in time").await;
    let lender = Lender::start(&hub);
    lender.said("no hello in time; reconnecting");
}

/// One device is one process.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_runs_once() {
    let mut hub = StandIn::start().await;
    let lender = Lender::start(&hub);
    hub.next().await;
    let token = lender.place.path("token");
    let again = lender.place.run(&[
        "connect",
        hub.base(),
        "--client-id",
        "laptop",
        "--token-file",
        token.to_str().unwrap(),
    ]);
    assert_eq!(again.status.code(), Some(5));
    assert!(text(&again.stderr).contains("device `laptop` is already running"), "{}", text(&again.stderr));
}

/// relay-175: only what makes sense is lent, and never the device's own files.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_lent_is_said_before_anything_is() {
    let hub = StandIn::start().await;
    let place = Place::new();
    let config = place.path("device.toml");
    std::fs::write(&config, "[roots]\nmain = \"/no/such/place\"\nhubs = 1\n").unwrap();
    for (arguments, code, expected) in [
        (vec!["--root", "main=/no/such/place"], 2, "could not inspect `/no/such/place`"),
        (vec!["--root", "code"], 2, "expected NAME=DIRECTORY"),
        (vec!["--root", "home=."], 2, "holds the device's own files"),
        (vec!["--root", "data=data/device/laptop/audit"], 2, "holds the device's own files"),
        (vec!["--root", "a=code", "--ask", "sleep=block"], 2, "WHAT must be writes, commands or tools"),
        (vec!["--unsandboxed"], 2, "--shell"),
        (vec!["--config", config.to_str().unwrap()], 2, "line 3"),
    ] {
        let mut command = place.device(&["connect", hub.base(), "--client-id", "laptop"]);
        let output = command.arg("--token-file").arg(place.path("token")).args(&arguments).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

/// `full`, and the option without a value, used to give commands everything that the machine can reach.
#[tokio::test(flavor = "multi_thread")]
async fn the_old_spelling_of_a_network_is_explained_once() {
    let hub = StandIn::start().await;
    let place = Place::new();
    let config = place.path("device.toml");
    std::fs::write(&config, "[shell]\nnetwork = \"full\"\n").unwrap();
    let file = ["--config", config.to_str().unwrap()];
    for (arguments, notes) in [
        (vec!["--shell", "--shell-network"], 1),
        (vec!["--shell", "--shell-network=full"], 1),
        (vec!["--shell", "--shell-network=proxy"], 0),
        (vec!["--shell", "--shell-network=host"], 0),
        (file.to_vec(), 1),
        ([&file[..], &["--shell"]].concat(), 1),
        ([&file[..], &["--shell", "--shell-network=host"]].concat(), 0),
    ] {
        let mut command = place.device(&["connect", hub.base(), "--client-id", "laptop"]);
        // The last option ends the command once it has read the others.
        let command = command.arg("--token-file").arg(place.path("token")).args(&arguments);
        let output = command.args(["--root", "main=/no/such/place"]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert_eq!(said.matches("use `host` for the old meaning").count(), notes, "{arguments:?}: {said}");
    }
}

/// relay-128, relay-175: what is run at its next start is not for others to change, nor its token for them to read.
#[tokio::test(flavor = "multi_thread")]
async fn what_decides_what_it_does_is_not_lent() {
    let hub = StandIn::start().await;
    let place = Place::new();
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text).unwrap();
    write("code/token", TOKEN);
    write("code/device.toml", "");
    write("code/tools.toml", "");
    write("code/tool", "");
    write(
        "program.toml",
        "[[tool]]\nname = \"t\"\ndescription = \"t\"\ncommand = [\"code/tool\"]\ninput_schema = {}\n",
    );
    std::os::unix::fs::symlink("code", place.path("link")).unwrap();
    let programs = format!("programs={}", Path::new(TOMBOLO).parent().unwrap().display());
    for (mode, token, more, expected) in [
        ("ro", "code/token", vec![], "holds the device token"),
        ("rw", "link/token", vec![], "holds the device token"),
        ("rw", "token", vec!["--config", "code/device.toml"], "holds the device's configuration file"),
        ("rw", "token", vec!["--tools", "link/tools.toml"], "holds the tools file"),
        ("rw", "token", vec!["--tools", "program.toml"], "holds a tool's program"),
        ("ro", "token", vec!["--root", &format!("{programs}:rw")], "holds this program"),
    ] {
        let root = format!("main=code:{mode}");
        let mut command = place.device(&["connect", hub.base(), "--client-id", "laptop", "--root", &root]);
        let output = command.arg("--token-file").arg(place.path(token)).args(&more).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {said}");
        assert!(said.contains(expected) && said.contains("move the file out of it"), "{more:?}: {said}");
    }
    let paired = place.run(&["pair", hub.base(), "--root", "main=code:rw", "--config", "code/device.toml"]);
    assert_eq!(paired.status.code(), Some(2));
    assert!(text(&paired.stderr).contains("holds the device's configuration file"));
}

/// A token is for one hub, and it is not known before.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_it_says_how_to_get_one() {
    let hub = StandIn::start().await;
    let place = Place::new();
    let output = place.run(&["connect", hub.base(), "--client-id", "laptop"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains(&format!("tombolo device pair {}", hub.base())), "{said}");
}
