//! What the relay server is told of tools.

use device::{
    Consent, Roots,
    tools::{Shelf, ToolSocket},
};
use serde_json::json;
use tempfile::TempDir;

use super::{
    programs::{Script, descriptor, socket_at},
    support::{Hub, Lent, Told, config, script, variables, written},
};

/// relay-85, relay-86: on each connection the device registers what it has, and what changes after that within the same connection.
#[tokio::test]
async fn tools_are_registered_on_connect_and_followed_after_that() {
    let (shelf, directory) = one_command();
    let mut lent = Lent::with(shelf.clone(), Consent::default()).await;
    let mut told = vec![Told::Register(names(&["paint"]))];
    lent.hub.was_told(&told).await;

    let path = socket_at(&directory);
    let socket = ToolSocket::open(&path).unwrap();
    let stop = lent.stop.clone();
    lent.spawn(socket.serve(shelf.clone(), stop));
    let mut program = Script::connect(&path, "printer").await;
    program.register(&[descriptor("print", json!({ "type": "object" }))]).await;
    told.push(Told::Register(names(&["print"])));
    lent.hub.was_told(&told).await;

    // The same once more is nothing new; another under the same name is first taken away.
    program.register(&[descriptor("print", json!({ "type": "object" }))]).await;
    program.register(&[descriptor("print", json!({ "type": "object", "required": ["page"] }))]).await;
    told.extend([Told::Unregister(names(&["print"])), Told::Register(names(&["print"]))]);
    lent.hub.was_told(&told).await;

    drop(program);
    told.push(Told::Unregister(names(&["print"])));
    lent.hub.was_told(&told).await;

    // A new connection is told all anew.
    let again = Lent::with(shelf, Consent::default()).await;
    again.hub.was_told(&[Told::Register(names(&["paint"]))]).await;
}

/// relay-86: a relay server that registers nothing hears of it all the same.
#[tokio::test]
async fn a_server_that_does_not_register_tools_is_told_of_them() {
    let (shelf, directory) = one_command();
    let hub = Hub { refuses: true, ..Hub::default() };
    let mut lent = Lent::at(hub, shelf.clone(), Consent::default()).await;
    let event = |event: &str, of: &[&str]| Told::Event(event.into(), names(of));
    let mut told = vec![event("tool.registered", &["paint"])];
    lent.hub.was_told(&told).await;
    let socket = ToolSocket::open(&socket_at(&directory)).unwrap();
    let stop = lent.stop.clone();
    lent.spawn(socket.serve(shelf, stop));
    let mut program = Script::connect(&socket_at(&directory), "printer").await;
    program.register(&[descriptor("print", json!({ "type": "object" }))]).await;
    told.push(event("tool.registered", &["print"]));
    lent.hub.was_told(&told).await;
    drop(program);
    told.push(event("tool.unregistered", &["print"]));
    lent.hub.was_told(&told).await;
}

fn one_command() -> (Shelf, TempDir) {
    let directory = written(&script("paint", "cat", ""));
    let shelf = Shelf::default();
    shelf.put_commands(&config(&directory), &variables(), &Roots::default()).unwrap();
    (shelf, directory)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
