use futures_util::SinkExt;
use tokio::{net::TcpListener, time::Instant};
use tokio_tungstenite::{accept_async, tungstenite::Message};

use super::*;

/// How long a server may be silent here.
const SILENCE: Duration = Duration::from_millis(400);

/// Watches a server that gives so many signs of life, each after half of that time, and is then silent for ever.
async fn watch(signs: usize) -> (Duration, Result<Option<Utf8Bytes>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let client = Client::new(endpoint, None).unwrap();
    let serve = async {
        let mut socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
        for _ in 0..signs {
            tokio::time::sleep(SILENCE / 2).await;
            socket.send(Message::Ping(Vec::new().into())).await.unwrap();
        }
        std::future::pending::<()>().await;
    };
    let watch = async {
        let watched = client.workers().watch(&"w".parse().unwrap(), None).await.unwrap();
        let started = Instant::now();
        let mut watched = watched.with_silence_max(SILENCE);
        // Whoever looks at other things meanwhile is no more patient.
        loop {
            if let Ok(ended) = tokio::time::timeout(SILENCE / 8, watched.text()).await {
                return (started.elapsed(), ended);
            }
        }
    };
    tokio::select! {
        () = serve => unreachable!("it is silent for ever"),
        ended = tokio::time::timeout(100 * SILENCE, watch) => ended.expect("it is lost"),
    }
}

/// observation-48, observation-75: a server that gives no sign of life is lost; one in which only nothing happens is not.
#[tokio::test]
async fn silence_is_not_the_same_as_nothing_new() {
    for signs in [0, 4] {
        let (took, ended) = watch(signs).await;
        assert!(matches!(ended, Err(Error::Transport(_))), "{ended:?}");
        assert!(took >= SILENCE / 2 * signs as u32 + SILENCE / 2, "{signs} signs: lost after {took:?}");
    }
}
