//! Shows a session to a user who only watches it, as a chat shows it.

use protocol::{
    AgentName, Event,
    observation::EventEnvelope,
    sessions::SessionSnapshot,
    wait::{Wait, WaitRequest},
};

use super::{
    PAST_MESSAGES_MAX,
    request_text::request_lines,
    screen::{ChatScreen, TextStyle},
    session_view::SessionView,
};
use crate::exit::CommandResult;

/// A session as an observation stream tells it.
pub(crate) struct WatchView {
    view: SessionView,
    /// The agent of the session, once a snapshot has named it.
    agent: Option<AgentName>,
    /// The messages of the next snapshot were shown, or are replayed after it.
    knows_messages: bool,
}

impl WatchView {
    /// With `is_continued` the stream replays the events after a cursor, so that it shows nothing else of the past.
    pub(crate) fn new(is_continued: bool) -> Self {
        Self { view: SessionView::new(ChatScreen::for_watching()), agent: None, knows_messages: is_continued }
    }

    /// Shows an event, or the state with which a stream begins.
    pub(crate) fn show(&mut self, envelope: &EventEnvelope) -> CommandResult {
        if let Event::Snapshot(snapshot) = &envelope.payload {
            return self.show_snapshot(snapshot);
        }
        let Some(agent) = &self.agent else { return Ok(()) };
        self.view.show_event(&envelope.payload, agent)?;
        match &envelope.payload {
            Event::PermissionAsked(permission) => {
                self.show_request(&WaitRequest::Permission(permission.clone()), &permission.id.to_string())
            }
            Event::QuestionAsked(question) => {
                self.show_request(&WaitRequest::Question(question.clone()), &question.id.to_string())
            }
            _ => Ok(()),
        }
    }

    /// Ends an unfinished line, so that another program can write to the terminal.
    pub(crate) fn start_line(&mut self) -> CommandResult {
        self.view.screen.start_line()
    }

    fn show_snapshot(&mut self, snapshot: &SessionSnapshot) -> CommandResult {
        let is_first = self.agent.replace(snapshot.session.agent.clone()).is_none();
        if !is_first {
            return Ok(());
        }
        self.view.show_header(&snapshot.session, true)?;
        if !std::mem::replace(&mut self.knows_messages, true) {
            let skip = snapshot.messages.len().saturating_sub(PAST_MESSAGES_MAX);
            if snapshot.has_earlier || skip > 0 {
                self.view.screen.line(TextStyle::Dim, "…")?;
            }
            snapshot.messages[skip..].iter().try_for_each(|message| self.view.show_past_message(message))?;
        }
        snapshot
            .waits
            .iter()
            .try_for_each(|Wait { id, request, .. }| self.show_request(request, &id.to_string()))
    }

    /// Shows what the agent waits for. Nothing can be answered here.
    fn show_request(&mut self, request: &WaitRequest, id: &str) -> CommandResult {
        for line in request_lines(request) {
            self.view.screen.line(TextStyle::Yellow, &line)?;
        }
        self.view.screen.line(TextStyle::Dim, &format!("  waits for an answer: tombolo waits show {id}"))
    }
}
