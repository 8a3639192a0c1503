use std::os::unix::fs::MetadataExt;

use jiff::Timestamp;
use protocol::device::{HubConnectionState, LendingState, LentCapabilities};

use super::*;

fn telling(control: &crate::Control) -> Telling {
    let control = control.clone();
    Arc::new(move || LocalDeviceStatus {
        client_id: "laptop".parse().unwrap(),
        label: None,
        version: "1".into(),
        pid: 7,
        started_at: Timestamp::UNIX_EPOCH,
        hub: "http://hub".into(),
        lending: match control.now() {
            crate::Lending::Active => LendingState::Active,
            crate::Lending::Paused { reason } => LendingState::Paused { reason },
            crate::Lending::Stopped => LendingState::Stopped,
        },
        connection: HubConnectionState::Calling,
        lent: LentCapabilities { roots: Vec::new(), shell: None, tool_count: None },
        sessions: Vec::new(),
        running: Vec::new(),
        last_errors: Vec::new(),
        audit: None,
    })
}

struct Listening {
    directory: tempfile::TempDir,
    device: Device,
    stop: CancellationToken,
    serving: JoinSet<()>,
}

impl Listening {
    fn at(below: &str) -> (Self, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join(below);
        fs::create_dir_all(&place).unwrap();
        let path = place.join("control.sock");
        let (device, stop) = (Device::default(), CancellationToken::new());
        let socket = ControlSocket::bind(&path).unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(socket.serve(device.clone(), telling(device.control()), stop.clone()));
        (Self { directory, device, stop, serving }, path)
    }
}

/// relay-61, relay-155: the owner's word counts at once.
#[tokio::test]
async fn what_the_owner_says_is_done_and_answered() {
    let (mut listening, path) = Listening::at("");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(ask(&path, &DeviceControlCommand::Status).await.unwrap().0.lending, LendingState::Active);
    let pause = DeviceControlCommand::Pause { reason: Some("lunch".into()) };
    let (status, _) = ask(&path, &pause).await.unwrap();
    assert_eq!(status.lending, LendingState::Paused { reason: Some("lunch".into()) });
    assert!(
        listening.device.control().check(protocol::relay::MethodInfo::find("file.read").unwrap()).is_err()
    );
    assert_eq!(ask(&path, &DeviceControlCommand::Resume).await.unwrap().0.lending, LendingState::Active);
    let (status, mut stream) = ask(&path, &DeviceControlCommand::Stop).await.unwrap();
    assert_eq!(status.lending, LendingState::Stopped);
    listening.stop.cancel();
    listening.serving.join_next().await;
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
    assert!(!path.exists());
    drop(listening.directory);
}

#[tokio::test]
async fn what_makes_no_sense_is_said_to_make_none() {
    let (_listening, path) = Listening::at("");
    for said in
        ["{\"command\":\"dance\"}\n", "[]\n", "{\"command\":\"pause\",\"reason\":7}\n", &"x".repeat(5000)]
    {
        let mut stream = UnixStream::connect(&path).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await.unwrap();
        assert!(answer.starts_with("{\"error\":"), "{answer}");
    }
    ask(&path, &DeviceControlCommand::Status).await.unwrap();
}

/// A path may be longer than the address of a socket, and a device that was killed leaves one behind.
#[tokio::test]
async fn a_long_path_and_one_that_was_left_behind() {
    let (listening, path) = Listening::at(&"deep/".repeat(40));
    ask(&path, &DeviceControlCommand::Status).await.unwrap();
    listening.stop.cancel();
    drop(listening.serving);
    let left = path.with_file_name("left.sock");
    drop(path::short(&left, |left| std::os::unix::net::UnixListener::bind(left)).unwrap());
    assert!(ask(&left, &DeviceControlCommand::Status).await.is_err());
    ControlSocket::bind(&left).unwrap();
}
