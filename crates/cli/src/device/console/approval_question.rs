//! The question that asks the owner to approve a request.

mod question_field;
mod request_description;

use device::{Agreement, Answer, Run, Subject, Unanswered};
use protocol::relay::method::{FileDelete, FileMkdir, FileWrite, RelayMethod};

use self::{question_field::QuestionField, request_description::RequestDescription};

/// The largest question, about one screen. Larger requests are rejected without asking, because the owner would not read all
/// of what they approve.
const SHOWN_CHARS_MAX: usize = 4000;
const SHOWN_LINES_MAX: usize = 100;

/// A question that asks the owner to approve a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ApprovalQuestion {
    fields: Vec<QuestionField>,
    /// Whether `always` is a possible answer.
    can_remember: bool,
}

impl ApprovalQuestion {
    /// # Errors
    /// If the request is too long to be shown completely.
    pub(super) fn new(question: device::Question<'_>) -> Result<Self, Unanswered> {
        let RequestDescription { action, fields, content } = RequestDescription::new(question);
        let session = question.request.context.as_ref().and_then(|context| context.session_id.as_deref());
        let session = session.map_or("a session without an id".into(), |id| format!("session {id}"));
        let mut shown = vec![QuestionField::heading(&format!("{session} wants to {action}"))];
        shown.extend(fields);
        shown.extend(question.agreement.map(|agreement| QuestionField::line("always", &scope_of(agreement))));
        let lines: usize = shown.iter().map(QuestionField::line_count).sum();
        let chars: usize = shown.iter().map(QuestionField::char_count).sum();
        if lines > SHOWN_LINES_MAX || chars > SHOWN_CHARS_MAX {
            return Err(Unanswered::TooLong);
        }
        // The content goes right below the heading. It is not counted above: it is shortened on its own, and says so.
        shown.splice(1..1, content);
        Ok(Self { fields: shown, can_remember: question.agreement.is_some() })
    }

    /// The question as rows for a terminal of this width.
    pub(super) fn rows(&self, columns: usize) -> Vec<String> {
        self.fields.iter().flat_map(|field| field.rows(columns)).collect()
    }

    pub(super) fn prompt(&self) -> &'static str {
        if self.can_remember { "[y]es [a]lways [n]o > " } else { "[y]es [n]o > " }
    }

    /// Explains the possible answers after a line that is none of them.
    pub(super) fn hint(&self) -> &'static str {
        if self.can_remember {
            "type y to allow once, a to allow always, or n to deny"
        } else {
            "type y to allow once, or n to deny"
        }
    }

    /// The answer that a line means; `None` if it is not one.
    pub(super) fn parse_answer(&self, line: &str) -> Option<Answer> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Answer::Once),
            "a" | "always" if self.can_remember => Some(Answer::Remember),
            "n" | "no" => Some(Answer::No),
            _ => None,
        }
    }
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
