//! The answer of an agent in one turn, folded from the events of its session.

use jiff::Timestamp;
use protocol::{
    Event, Message, Transcript, TurnId,
    event::{InputState, TurnEndReason, TurnEnded},
    message::{MessageRole, PartContent},
};

/// The messages of one turn and how it ended. It is applied to the events of the session from before the turn on.
#[derive(Debug)]
pub(crate) struct TurnAnswer {
    turn: TurnId,
    started: bool,
    messages: Transcript,
    end: Option<TurnEnded>,
}

impl TurnAnswer {
    /// `running` is the turn that ran before the first event that is applied: the message may have been steered into it.
    pub(crate) fn new(turn: TurnId, running: Option<TurnId>) -> Self {
        Self { turn, started: running == Some(turn), messages: Transcript::default(), end: None }
    }

    /// The turn.
    pub(crate) fn turn(&self) -> TurnId {
        self.turn
    }

    /// Whether the turn has started. Until then, the agent may work on an earlier one.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// How the turn ended; `None` while it runs or is queued.
    pub(crate) fn end(&self) -> Option<&TurnEnded> {
        self.end.as_ref()
    }

    /// Applies the next event of the session, which was recorded at `time`.
    pub(crate) fn apply(&mut self, event: &Event, time: Timestamp) {
        match event {
            Event::TurnStarted(started) if started.turn_id == self.turn => self.started = true,
            Event::TurnEnded(ended) if ended.turn_id == self.turn => self.end = Some(ended.clone()),
            Event::Input(receipt)
                if !self.started
                    && receipt.turn_id == Some(self.turn)
                    && matches!(receipt.state, InputState::Refused | InputState::Withdrawn) =>
            {
                let is_withdrawn = receipt.state == InputState::Withdrawn;
                let reason = if is_withdrawn { TurnEndReason::Interrupted } else { TurnEndReason::Failed };
                self.end = Some(TurnEnded { turn_id: self.turn, reason, usage: None });
            }
            // A session has one turn at a time, so that these messages belong to this one.
            _ if self.started && self.end.is_none() => _ = self.messages.apply_event(event, time),
            _ => {}
        }
    }

    /// The answer: the last message of the agent that has text. Messages of sub-agents are not part of it.
    pub(crate) fn message(&self) -> Option<&Message> {
        let is_answer = |message: &&Message| {
            message.role == MessageRole::Assistant
                && message.parent_tool_call_id.is_none()
                && texts(message).any(|text| !text.is_empty())
        };
        self.messages.messages().iter().rev().find(is_answer)
    }

    /// The text of the answer.
    pub(crate) fn text(&self) -> String {
        self.message().map(|message| texts(message).collect::<Vec<_>>().join("\n")).unwrap_or_default()
    }
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match &part.content {
        PartContent::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use protocol::{
        event::TurnStarted,
        message::{DeltaKind, MessageDelta, MessagePart},
    };

    use super::*;

    fn said(id: &str, parent: Option<&str>, text: &str) -> Event {
        let part = MessagePart { id: "p".into(), content: PartContent::Text { text: text.into() } };
        let message = Message::new(id, MessageRole::Assistant, vec![part]);
        Event::Message(Message { parent_tool_call_id: parent.map(Into::into), ..message })
    }

    fn started(turn_id: TurnId) -> Event {
        Event::TurnStarted(TurnStarted { turn_id, input_id: None })
    }

    fn ended(turn_id: TurnId) -> Event {
        Event::TurnEnded(TurnEnded { turn_id, reason: TurnEndReason::Completed, usage: None })
    }

    #[test]
    fn the_answer_is_the_last_text_of_the_agent_in_the_turn() {
        let [earlier, turn, later] = [TurnId::mint(), TurnId::mint(), TurnId::mint()];
        let mut answer = TurnAnswer::new(turn, None);
        let delta = MessageDelta {
            message_id: "b".into(),
            part_id: "p".into(),
            kind: DeltaKind::Text,
            text: "swer".into(),
        };
        let events = [
            started(earlier),
            said("x", None, "of an earlier turn"),
            ended(earlier),
            started(turn),
            said("a", None, "I look at it"),
            said("b", None, "an"),
            Event::MessageDelta(delta),
            said("c", Some("call"), "of a sub-agent"),
        ];
        events.iter().for_each(|event| answer.apply(event, Timestamp::UNIX_EPOCH));
        assert!(answer.has_started() && answer.end().is_none());
        answer.apply(&ended(turn), Timestamp::UNIX_EPOCH);
        answer.apply(&started(later), Timestamp::UNIX_EPOCH);
        answer.apply(&said("y", None, "of a later turn"), Timestamp::UNIX_EPOCH);
        assert_eq!(answer.text(), "answer");
        assert_eq!(answer.end().unwrap().reason, TurnEndReason::Completed);
    }
}
