use protocol::ServerId;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use super::*;
use crate::AcpMessage;

/// A server that answers the first request on a connection, and closes it on the second without a word, as one does that
/// was about to close it anyway.
async fn closing_server(connections: usize) -> (Client, JoinSet<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let mut server = JoinSet::new();
    server.spawn(async move {
        let mut asked = 0;
        for _ in 0..connections {
            let mut connection = BufReader::new(listener.accept().await.unwrap().0);
            for answers in [true, false] {
                if !read_request(&mut connection).await {
                    break;
                }
                asked += 1;
                if answers {
                    let answer = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n";
                    connection.write_all(answer.as_bytes()).await.unwrap();
                }
            }
        }
        asked
    });
    (Client::new(endpoint.parse().unwrap(), None).unwrap(), server)
}

/// Reads a request to its end; whether there was one.
async fn read_request(connection: &mut BufReader<TcpStream>) -> bool {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if connection.read_line(&mut line).await.unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            connection.read_exact(&mut vec![0; length]).await.unwrap();
            return true;
        }
    }
}

fn id() -> ServerId {
    "a".parse().unwrap()
}

#[tokio::test]
async fn a_question_is_asked_again_on_a_new_connection() {
    let (client, server) = closing_server(2).await;
    client.acp().list().await.unwrap();
    client.acp().list().await.unwrap();
    drop(client);
    assert_eq!(server.join_all().await, [3]);
}

#[tokio::test]
async fn a_message_is_sent_again_only_if_it_has_a_key() {
    let (client, server) = closing_server(2).await;
    let keyed = |key: &str| AcpMessage::new("{}").key(key.parse().unwrap());
    client.acp().send(&id(), keyed("1")).await.unwrap();
    client.acp().send(&id(), keyed("2")).await.unwrap();
    drop(client);
    assert_eq!(server.join_all().await, [3]);

    let (client, server) = closing_server(2).await;
    client.acp().send(&id(), AcpMessage::new("{}")).await.unwrap();
    let error = client.acp().send(&id(), AcpMessage::new("{}")).await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error}");
    // It would have been taken; now it is somebody who says nothing.
    let address = client.endpoint().to_string();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    drop(TcpStream::connect(address).await.unwrap());
    assert_eq!(server.join_all().await, [2], "nobody knows whether it arrived");
}
