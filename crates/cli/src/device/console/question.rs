//! What the owner is asked: what, where and how far.

mod about;
mod field;

use device::{Agreement, Answer, Run, Subject, Unanswered};
use protocol::relay::method::{FileDelete, FileMkdir, FileWrite, Method};

use self::{about::About, field::Field};

/// How much somebody can be asked to read before they answer: about a screen. What is longer is not asked, as nobody
/// would know what they agree to.
const SHOWN_CHARS_MAX: usize = 4000;
const SHOWN_LINES_MAX: usize = 100;

/// What the owner is asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    fields: Vec<Field>,
    /// Whether they can agree for more than once.
    remembers: bool,
}

impl Question {
    /// How this is asked.
    ///
    /// # Errors
    /// If it cannot be shown whole.
    pub(super) fn of(asked: device::Question<'_>) -> Result<Self, Unanswered> {
        let About { wants, fields, content } = About::of(asked);
        let session = asked.request.context.as_ref().and_then(|context| context.session_id.as_deref());
        let session = session.map_or("a session without a name".into(), |id| format!("session {id}"));
        let mut shown = vec![Field::head(&format!("{session} wants to {wants}"))];
        shown.extend(fields);
        shown.extend(asked.agreement.map(|agreement| Field::line("always", &covered(agreement))));
        let lines: usize = shown.iter().map(Field::line_count).sum();
        let chars: usize = shown.iter().map(Field::char_count).sum();
        if lines > SHOWN_LINES_MAX || chars > SHOWN_CHARS_MAX {
            return Err(Unanswered::TooLong);
        }
        // After the first line.
        shown.splice(1..1, content);
        Ok(Self { fields: shown, remembers: asked.agreement.is_some() })
    }

    /// What is shown on a terminal that is so wide.
    pub(super) fn rows(&self, columns: usize) -> Vec<String> {
        self.fields.iter().flat_map(|field| field.rows(columns)).collect()
    }

    /// What the owner is to type.
    pub(super) fn prompt(&self) -> &'static str {
        if self.remembers { "[y]es [a]lways [n]o > " } else { "[y]es [n]o > " }
    }

    /// The same, for those who typed something else.
    pub(super) fn hint(&self) -> &'static str {
        match self.remembers {
            true => "type y for this time, a for always, or n for no",
            false => "type y for this time, or n for no",
        }
    }

    /// What a line means; none if that is not clear.
    pub(super) fn answer(&self, line: &str) -> Option<Answer> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Answer::Once),
            "a" | "always" if self.remembers => Some(Answer::Remember),
            "n" | "no" => Some(Answer::No),
            _ => None,
        }
    }
}

/// What the owner agrees to for more than once.
fn covered(agreement: &Agreement) -> String {
    let Agreement { method, subject, workspace, run } = agreement;
    let what = match subject {
        Subject::Root(root) if *method == FileWrite::ROW.name => format!("writing any file in {root}"),
        Subject::Root(root) if *method == FileMkdir::ROW.name => format!("making any directory in {root}"),
        Subject::Root(root) if *method == FileDelete::ROW.name => format!("deleting anything in {root}"),
        Subject::Root(root) => format!("every {method} in {root}"),
        Subject::Command { .. } => "exactly this command, there and with the same variables".into(),
        Subject::Tool { name, .. } => {
            format!("every use of {name}, with any arguments, as long as it stays as it is")
        }
    };
    let workspace = match workspace {
        Some(workspace) => format!("workspace {workspace}"),
        None => "whoever names no workspace".into(),
    };
    let run = match run {
        Some(Run::Run(run)) => format!(" in run {run}"),
        Some(Run::Session(session)) => format!(" in session {session}"),
        None => String::new(),
    };
    format!("{what}, for {workspace}{run}, until you say `forget` or this device ends")
}

#[cfg(test)]
mod tests;
