//! Streams across cut connections, against a server that cuts as it is told.

use protocol::ServerId;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    task::JoinSet,
};

use crate::{AcpEvent, AcpEventKind, AcpEvents, Client, Error};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const END: &str = "0\r\n\r\n";
const GONE: &str = "HTTP/1.1 404 N\r\ncontent-type: application/problem+json\r\ncontent-length: 41\r\n\r\n{\"type\":\"urn:problem:instance-not-found\"}";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn message(id: u64) -> String {
    chunk(&format!("event: message\nid: {id}\ndata: {{\"n\":{id}}}\n\n"))
}

/// Answers each connection with the next of `answers` and closes it; the `Last-Event-ID` of each request.
async fn serve(listener: TcpListener, answers: Vec<String>) -> Vec<Option<String>> {
    let mut resumed = Vec::new();
    for answer in answers {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut last = None;
        let mut lines = BufReader::new(&mut socket).lines();
        while let Some(line) = lines.next_line().await.unwrap().filter(|line| !line.is_empty()) {
            if let Some(id) = line.to_ascii_lowercase().strip_prefix("last-event-id: ") {
                last = Some(id.to_owned());
            }
        }
        resumed.push(last);
        socket.write_all(answer.as_bytes()).await.unwrap();
        let _ = socket.shutdown().await;
    }
    resumed
}

/// Follows until the end: the events, how it ended, and where each connection resumed.
async fn run(
    after: Option<u64>,
    answers: &[String],
) -> (Vec<AcpEvent>, Result<(), Error>, Vec<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let mut server = JoinSet::new();
    server.spawn(serve(listener, answers.to_vec()));
    let client = Client::new(endpoint, None).unwrap();
    let id: ServerId = "a".parse().unwrap();
    let mut events = Vec::new();
    let ended = async {
        let mut stream: AcpEvents = client.acp().events(&id, after).await?;
        while let Some(event) = stream.next().await? {
            events.push(event);
        }
        assert!(stream.next().await?.is_none(), "what has ended stays ended");
        Ok(())
    }
    .await;
    (events, ended, server.join_next().await.unwrap().unwrap())
}

fn ids(events: &[AcpEvent]) -> Vec<u64> {
    let id = |event: &AcpEvent| match event.kind {
        AcpEventKind::Message { id } => Some(id),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

#[tokio::test]
async fn a_cut_stream_goes_on_after_the_last_message() {
    let half = "40\r\nevent: unparsed\ndata: {\"ha";
    let answers = [
        format!("{HEAD}{}{}{half}", message(1), message(2)),
        format!("{HEAD}{}", message(3)),
        format!("{HEAD}{}{END}", message(4)),
        GONE.to_owned(),
    ];
    let (events, ended, resumed) = run(None, &answers).await;
    ended.unwrap();
    assert_eq!(ids(&events), [1, 2, 3, 4]);
    assert_eq!(events[2].data, r#"{"n":3}"#);
    assert_eq!(resumed, [None, Some("2".into()), Some("3".into()), Some("4".into())]);
}

#[tokio::test]
async fn the_end_of_the_agent_is_the_end_of_the_stream() {
    let exited = chunk("event: exited\ndata: {\"code\":0}\n\n");
    let (events, ended, resumed) = run(Some(7), &[format!("{HEAD}{}{exited}{END}", message(8))]).await;
    ended.unwrap();
    assert_eq!(events[1], AcpEvent { kind: AcpEventKind::Exited, data: r#"{"code":0}"#.into() });
    assert_eq!(resumed, [Some("7".into())]);
}

#[tokio::test]
async fn a_server_that_is_gone_is_an_error_after_some_tries() {
    let (events, ended, _) = run(None, &[format!("{HEAD}{}", message(1))]).await;
    assert_eq!(ids(&events), [1]);
    assert!(matches!(ended, Err(Error::Transport(_))), "{ended:?}");
}

#[tokio::test]
async fn a_server_that_only_greets_is_not_asked_for_ever() {
    let greeting = format!("{HEAD}{}{END}", chunk(": connected\n\n"));
    let (events, ended, resumed) = run(None, &vec![greeting; 6]).await;
    ended.unwrap();
    assert_eq!((events.len(), resumed.len()), (0, 6));
}

#[tokio::test]
async fn what_is_no_stream_is_told() {
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>";
    let (_, ended, _) = run(None, &[page.to_owned()]).await;
    assert!(matches!(ended, Err(Error::Unexpected { status: 200, .. })), "{ended:?}");
    let (_, ended, _) = run(None, &[GONE.to_owned()]).await;
    assert_eq!(ended.unwrap_err().kind(), Some(protocol::ProblemKind::InstanceNotFound));
}
