//! The question that asks the owner to approve a request.

mod question_field;
mod request_description;

use device::{Agreement, Answer, Run, Subject, Unanswered};
use protocol::{
    relay::method::{FileDelete, FileMkdir, FileWrite, RelayMethod},
    wait::PermissionAnswer,
};

use self::{question_field::QuestionField, request_description::RequestDescription};
use crate::answer_word;

/// How much of a question is shown at first, about one screen. More would scroll its beginning away.
const SHOWN_CHARS_MAX: usize = 4000;
const SHOWN_LINES_MAX: usize = 100;

/// How much of one field is shown at first, so that a long one leaves room for the others.
const FIELD_CHARS_MAX: usize = 2000;
const FIELD_LINES_MAX: usize = 40;

/// The largest question. A larger request is rejected without asking: no owner reads it on a terminal, and a terminal does not
/// keep it.
const ALL_CHARS_MAX: usize = 1 << 20;

/// A question that asks the owner to approve a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ApprovalQuestion {
    fields: Vec<QuestionField>,
    /// Whether `always` is a possible answer.
    can_remember: bool,
    /// The owner could read all of it. Until then it cannot be allowed.
    is_shown_in_full: bool,
}

/// The meaning of a line that was typed as an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionReply {
    Answer(Answer),
    /// The owner wants to read all of the request.
    ShowAll,
    /// The line is not an answer, or not one yet. Contains a hint for the owner.
    Invalid(&'static str),
}

impl ApprovalQuestion {
    /// # Errors
    /// If the request is too long to be shown on a terminal.
    pub(super) fn new(question: device::Question<'_>) -> Result<Self, Unanswered> {
        let RequestDescription { action, fields } = RequestDescription::new(question);
        let session = question.request.context.as_ref().and_then(|context| context.session_id.as_deref());
        let session = session.map_or("a session without an id".into(), |id| format!("session {id}"));
        let mut all = vec![QuestionField::heading(&format!("{session} wants to {action}"))];
        all.extend(fields);
        all.extend(question.agreement.map(|agreement| QuestionField::line("always", &scope_of(agreement))));
        let chars: usize = all.iter().map(|field| field.char_count() + field.line_count()).sum();
        if chars > ALL_CHARS_MAX {
            return Err(Unanswered::TooLong);
        }
        let is_shown_in_full = first_fields(&all).iter().all(|field| field.hidden_chars() == 0);
        Ok(Self { fields: all, can_remember: question.agreement.is_some(), is_shown_in_full })
    }

    /// The part that the owner sees first, as rows for a terminal of this width.
    pub(super) fn first_rows(&self, columns: usize) -> Vec<String> {
        first_fields(&self.fields).iter().flat_map(|field| field.rows(columns)).collect()
    }

    /// All of the question, as rows for a terminal of this width. The caller shows them.
    pub(super) fn show_all(&mut self, columns: usize) -> Vec<String> {
        self.is_shown_in_full = true;
        self.fields.iter().flat_map(|field| field.rows(columns)).collect()
    }

    pub(super) fn prompt(&self) -> &'static str {
        match (self.is_shown_in_full, self.can_remember) {
            (false, _) => answer_word::PROMPT_CUT,
            (true, true) => answer_word::PROMPT,
            (true, false) => answer_word::PROMPT_ONCE,
        }
    }

    /// Explains the possible answers after a line that is none of them.
    fn hint(&self) -> &'static str {
        match (self.is_shown_in_full, self.can_remember) {
            (false, _) => "part of the request is not shown yet: type s to show all of it, or d to deny",
            (true, true) => answer_word::HINT,
            (true, false) => answer_word::HINT_ONCE,
        }
    }

    pub(super) fn parse_answer(&self, line: &str) -> QuestionReply {
        if matches!(line.trim().to_ascii_lowercase().as_str(), "s" | "show") {
            return QuestionReply::ShowAll;
        }
        match answer_word::parse(line) {
            Some(PermissionAnswer::Once) if self.is_shown_in_full => QuestionReply::Answer(Answer::Once),
            Some(PermissionAnswer::Always) if self.is_shown_in_full && self.can_remember => {
                QuestionReply::Answer(Answer::Remember)
            }
            Some(PermissionAnswer::Reject) => QuestionReply::Answer(Answer::No),
            _ => QuestionReply::Invalid(self.hint()),
        }
    }
}

/// The part of each field that is shown at first.
fn first_fields(all: &[QuestionField]) -> Vec<QuestionField> {
    let (mut lines_left, mut chars_left) = (SHOWN_LINES_MAX, SHOWN_CHARS_MAX);
    let mut hidden = 0;
    let mut first = Vec::new();
    for field in all {
        if lines_left == 0 || chars_left == 0 {
            hidden += field.char_count() + field.line_count();
            continue;
        }
        let shown = field.beginning(FIELD_LINES_MAX.min(lines_left), FIELD_CHARS_MAX.min(chars_left));
        lines_left -= shown.line_count();
        chars_left -= shown.char_count();
        first.push(shown);
    }
    first.extend((hidden > 0).then(|| QuestionField::hidden(hidden)));
    first
}

/// Describes which future requests `always` would allow.
fn scope_of(agreement: &Agreement) -> String {
    let Agreement { method, subject, workspace, run } = agreement;
    let what = match subject {
        Subject::Root(root) if *method == FileWrite::INFO.name => format!("writing any file in {root}"),
        Subject::Root(root) if *method == FileMkdir::INFO.name => format!("creating any directory in {root}"),
        Subject::Root(root) if *method == FileDelete::INFO.name => format!("deleting anything in {root}"),
        Subject::Root(root) => format!("every {method} in {root}"),
        Subject::Command { .. } => {
            "exactly this command, in the same directory and with the same variables".into()
        }
        Subject::Tool { name, .. } => {
            format!("every call of {name}, with any arguments, as long as the tool does not change")
        }
    };
    let workspace = match workspace {
        Some(workspace) => format!("workspace {workspace}"),
        None => "requests that name no workspace".into(),
    };
    let run = match run {
        Some(Run::Run(run)) => format!(" in run {run}"),
        Some(Run::Session(session)) => format!(" in session {session}"),
        None => String::new(),
    };
    format!("{what}, for {workspace}{run}, until you type `forget` or the device stops")
}

#[cfg(test)]
mod tests;
