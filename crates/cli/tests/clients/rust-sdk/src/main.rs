//! Holds a conversation as an editor does, with the agent that its arguments start; panics if it is not as expected.

use std::sync::{Arc, Mutex};

use agent_client_protocol::{
    AcpAgent, Agent, Client,
    schema::ProtocolVersion,
    v1::{
        ConnectionTo,
        schema::{
            CancelNotification, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest,
            RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse,
            SelectedPermissionOutcome, SessionNotification, SessionUpdate, StopReason, TextContent,
        },
    },
};
use tokio::sync::Notify;

#[tokio::main(flavor = "current_thread")]
async fn main() -> agent_client_protocol::Result<()> {
    let agent = AcpAgent::from_args(std::env::args().skip(1))?;
    let texts = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::new(Notify::new());
    let (kept, rung) = (texts.clone(), heard.clone());
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _cx| {
                if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                    && let ContentBlock::Text(text) = chunk.content
                {
                    kept.lock().unwrap().push(text.text);
                    rung.notify_one();
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: RequestPermissionRequest, responder, _connection| {
                let chosen = request.options[1].option_id.clone();
                responder.respond(RequestPermissionResponse::new(RequestPermissionOutcome::Selected(
                    SelectedPermissionOutcome::new(chosen),
                )))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(agent, async move |connection: ConnectionTo<Agent>| {
            converse(connection, texts, heard).await
        })
        .await
}

async fn converse(
    connection: ConnectionTo<Agent>,
    texts: Arc<Mutex<Vec<String>>>,
    heard: Arc<Notify>,
) -> agent_client_protocol::Result<()> {
    let initialized =
        connection.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
    assert_eq!(initialized.agent_info.unwrap().name, "mock");
    let session = connection.send_request(NewSessionRequest::new("/")).block_task().await?.session_id;
    let prompt = |text: &str| {
        let blocks = vec![ContentBlock::Text(TextContent::new(text.to_owned()))];
        connection.send_request(PromptRequest::new(session.clone(), blocks)).block_task()
    };

    let ended = prompt("hello\n/permission\n/chunks 3").await?;
    assert_eq!(ended.stop_reason, StopReason::EndTurn);
    let said = ["hello", "permission answered: reject", "chunk 1 ", "chunk 2 ", "chunk 3 "];
    assert_eq!(*texts.lock().unwrap(), said);

    let hanging = prompt("before\n/hang");
    while texts.lock().unwrap().last().is_none_or(|last| last != "before") {
        heard.notified().await;
    }
    connection.send_notification(CancelNotification::new(session.clone()))?;
    assert_eq!(hanging.await?.stop_reason, StopReason::Cancelled);
    Ok(())
}
