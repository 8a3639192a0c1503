//! `tombolo waits answer`.

use clap::Args;
use protocol::{
    Author, WaitId,
    wait::{Ask, WaitAnswer, WaitReply},
};

use super::place::{Found, Place};
use crate::{
    chat::ask::{Answered, Asking},
    exit::{Failure, Outcome},
    output::Output,
};

/// What is answered to what.
#[derive(Debug, Args)]
pub(super) struct Reply {
    /// What is answered: its id, or as much of its beginning or its end as no other has
    id: String,
    /// The answer; one for each question
    #[arg(required_unless_present = "reject")]
    answer: Vec<String>,
    /// Say no, whatever is asked
    #[arg(long, conflicts_with = "answer")]
    reject: bool,
    /// Who answers; a hub knows better
    #[arg(long)]
    author: Option<Author>,
}

impl Reply {
    pub(super) async fn send(self, place: &Place, output: Output) -> Outcome {
        let Self { id, answer, reject, author } = self;
        let found = find(place.open().await?, &id)?;
        let answer = match reject {
            true => WaitAnswer::Reject,
            false => read(&found.1.ask, &answer)?,
        };
        place.answer(&found, &WaitReply { answer, author }, output).await
    }
}

/// The one that is meant.
fn find(open: Vec<Found>, id: &str) -> Result<Found, Failure> {
    let mut meant: Vec<Found> = open.into_iter().filter(|(_, wait)| is_meant(wait.id, id)).collect();
    match (meant.pop(), meant.len()) {
        (Some(found), 0) => Ok(found),
        (Some(_), more) => Err(Failure::Usage(format!("`{id}` means {} waits: say more of it", more + 1))),
        (None, _) => Err(Failure::Usage(format!("nothing that waits is called `{id}`"))),
    }
}

fn is_meant(wait: WaitId, id: &str) -> bool {
    let name = wait.to_string();
    let bare = name.split_once('_').map_or("", |(_, bare)| bare);
    !id.is_empty() && (name.starts_with(id) || bare.starts_with(id) || bare.ends_with(id))
}

/// What words answer.
fn read(ask: &Ask, words: &[String]) -> Result<WaitAnswer, Failure> {
    let usage = |hint: String| Err(Failure::Usage(hint));
    let mut asking = Asking::of(ask);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let answer = match asking.take(word) {
            Answered::Permission(answer) => WaitAnswer::Permission(answer),
            Answered::Question(answers) => WaitAnswer::Question(answers),
            Answered::Rejected => WaitAnswer::Reject,
            Answered::More => continue,
            Answered::Again(hint) => return usage(format!("`{word}` is no answer: {hint}")),
        };
        return match words.next() {
            None => Ok(answer),
            Some(more) => usage(format!("`{more}` answers nothing: everything is answered before it")),
        };
    }
    usage("there are more questions than answers".into())
}

#[cfg(test)]
mod tests {
    use protocol::wait::{Choice, PermissionAnswer, Question, QuestionItem};

    use super::*;

    #[test]
    fn a_wait_is_meant_by_its_beginning_or_its_end() {
        let id: WaitId = "wat_0198c0de0198c0de0198c0de0198beef".parse().unwrap();
        for (text, meant) in [
            ("wat_0198c0de0198c0de0198c0de0198beef", true),
            ("wat_0198", true),
            ("0198c", true),
            ("beef", true),
            ("c0de", false),
            ("", false),
        ] {
            assert_eq!(is_meant(id, text), meant, "{text}");
        }
    }

    #[test]
    fn each_question_needs_its_answer() {
        let choice = |label: &str| Choice { label: label.into(), description: None };
        let options = vec![choice("Red"), choice("Green")];
        let item =
            QuestionItem { question: "Which?".into(), header: None, options, multiple: false, custom: false };
        let questions = vec![item.clone(), item];
        let ask = Ask::Question(Question {
            id: WaitId::mint(),
            turn_id: None,
            call_id: None,
            questions,
            plan: None,
        });
        let read =
            |words: &[&str]| read(&ask, &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        let answers = vec![vec!["Red".to_owned()], vec!["Green".to_owned()]];
        assert_eq!(read(&["1", "green"]).unwrap(), WaitAnswer::Question(answers));
        for wrong in [&["1"][..], &["1", "2", "2"], &["1", "Blue"]] {
            assert!(matches!(read(wrong), Err(Failure::Usage(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_permission_is_allowed_or_denied() {
        let permission = serde_json::from_value(serde_json::json!({
            "id": WaitId::mint(), "turnId": null, "callId": null, "tool": "Bash", "kind": "execute",
            "title": "ls", "reason": null, "input": null, "always": [],
        }));
        let ask = Ask::Permission(permission.unwrap());
        for (word, answer) in [
            ("allow", PermissionAnswer::Once),
            ("always", PermissionAnswer::Always),
            ("deny", PermissionAnswer::Reject),
        ] {
            assert_eq!(read(&ask, &[word.into()]).unwrap(), WaitAnswer::Permission(answer));
        }
    }
}
