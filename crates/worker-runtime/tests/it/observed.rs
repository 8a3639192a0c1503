use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agents::{Catalog, Installer, install};
use axum::{
    Router,
    extract::{State, WebSocketUpgrade},
    response::Response,
    routing::get,
};
use futures_util::{
    StreamExt,
    future::{BoxFuture, ready},
};
use protocol::{
    Event, SessionId,
    config::Skill,
    observation::{Control, Frame},
    sessions::{Create, Send, WhenBusy},
};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use worker_runtime::{Config, DirectorySettings, Sessions, Settings, ws};

const PATIENCE: Duration = Duration::from_secs(20);

/// Nothing is configured anywhere.
struct Nothing;

impl Settings for Nothing {
    fn of(&self, _: PathBuf, _: BTreeMap<String, Skill>) -> BoxFuture<'static, DirectorySettings> {
        Box::pin(ready(DirectorySettings::default()))
    }
}

/// The mock agent, which is built beside the tests.
fn mock() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples/mock-agent")
}

fn sessions(home: &TempDir) -> Sessions {
    let catalog = Catalog::new(&mock(), BTreeMap::new()).unwrap();
    let config = Config {
        directory: home.path().join("sessions"),
        current_dir: home.path().into(),
        env_remove: Vec::new(),
        grace: Duration::from_secs(2),
        patience: None,
        idle: Duration::from_secs(600),
        sessions_max: 10,
    };
    Sessions::new(config, Installer::new(install::Config::default(), catalog), Arc::new(Nothing))
}

/// Serves the workers of `sessions`: where, and for as long as what.
async fn serve(sessions: Sessions) -> (SocketAddr, JoinSet<std::io::Result<()>>) {
    async fn watch(State(sessions): State<Sessions>, upgrade: WebSocketUpgrade) -> Response {
        let observation = sessions.observe(&id(), None).await.unwrap();
        upgrade.on_upgrade(|socket| ws::serve(socket, observation))
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let app = Router::new().route("/", get(watch)).with_state(sessions);
    let mut served = JoinSet::new();
    served.spawn(async move { axum::serve(listener, app).await });
    (address, served)
}

fn id() -> SessionId {
    "s".parse().unwrap()
}

async fn say(sessions: &Sessions, message: &str) {
    let send = Send {
        message: message.into(),
        attachments: Vec::new(),
        when_busy: WhenBusy::default(),
        author: None,
    };
    sessions.send(&id(), send, None).await.unwrap();
}

async fn next(socket: &mut WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>) -> Frame {
    let message = tokio::time::timeout(PATIENCE, socket.next()).await.unwrap().unwrap().unwrap();
    let Message::Text(text) = message else { panic!("{message:?}") };
    serde_json::from_str(&text).unwrap()
}

/// observation #9, #11, #13, #14, #72: a runtime by itself shows what it holds, and what happens.
#[tokio::test]
async fn a_worker_is_watched_without_a_daemon() {
    let home = TempDir::new().unwrap();
    let sessions = sessions(&home);
    let create: Create = serde_json::from_str(r#"{ "agent": "mock" }"#).unwrap();
    assert!(sessions.create(&id(), create).await.unwrap().healthy);
    let (address, _served) = serve(sessions.clone()).await;
    let (mut socket, _) = connect_async(format!("ws://{address}/")).await.unwrap();
    let Frame::Event { envelope } = next(&mut socket).await else { panic!("an event comes first") };
    let Event::Snapshot(snapshot) = envelope.payload else { panic!("the snapshot comes first") };
    assert_eq!(snapshot.session.id, id());
    assert_eq!(next(&mut socket).await, Frame::Control { control: Control::Live });
    say(&sessions, "hello").await;
    let mut seen = Vec::new();
    while !matches!(seen.last(), Some(Event::TurnEnded(_))) {
        let Frame::Event { envelope } = next(&mut socket).await else { panic!("only events come") };
        seen.push(envelope.payload);
    }
    let (page, _) = sessions.page(&id(), snapshot.seq, None, false).await.unwrap();
    let records: Vec<protocol::Record> = serde_json::from_slice(&page).unwrap();
    assert_eq!(seen[..], records.into_iter().map(|record| record.event).collect::<Vec<_>>()[..seen.len()]);
    sessions.shutdown().await;
}
