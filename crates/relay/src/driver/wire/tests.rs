//! Both directions have their turn.

use super::*;

/// A transport that can always send, and on which something always comes.
struct Busy;

impl Transport for Busy {
    fn poll_receive(&mut self, _: &mut Context<'_>) -> Poll<Result<Packet, Lost>> {
        Poll::Ready(Ok(Packet::Text("heard".into())))
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn carries_bytes(&self) -> bool {
        false
    }

    fn send(&mut self, _: Packet) -> Result<(), Lost> {
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        Poll::Ready(Ok(()))
    }

    fn close(&mut self, _: CloseCode, _: String) {}
}

/// relay-16, relay-56: who has always something to send hears the other side all the same, and the other way round.
#[tokio::test]
async fn both_directions_have_their_turn() {
    let (mut wire, mut outbox) = (Wire::new(Busy), Outbox::default());
    let mut moved = Vec::new();
    for _ in 0..10 {
        (0..SENT_AT_ONCE_MAX).for_each(|_| outbox.whole("said".to_owned()));
        moved.push(matches!(wire.moves(&mut outbox, true).await, Ok(Moved::Received(_))));
    }
    assert_eq!(moved, [false, true].repeat(5));
}
