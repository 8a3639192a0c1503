//! `tombolo waits answer`: finds an open wait by part of its id and answers it.

use clap::Args;
use protocol::{
    Author, WaitId,
    wait::{AnswerWaitRequest, PermissionAnswer, REJECT, Wait, WaitAnswer},
};

use super::{
    confirmation,
    source::{ListedWait, WaitSource},
    view,
    wait_text::WaitText,
};
use crate::{
    chat::wait_prompt::{TypedAnswer, WaitPrompt},
    exit::{CommandError, CommandResult},
    output::CommandOutput,
};

/// A wait, and the answer to it.
#[derive(Debug, Args)]
pub(super) struct AnswerArgs {
    /// The id of the wait, or enough of its beginning or end to be unambiguous
    id: String,
    /// The answer; one argument per question
    #[arg(required_unless_present = "reject")]
    answer: Vec<String>,
    /// Reject the permission, question or plan
    #[arg(long, conflicts_with = "answer")]
    reject: bool,
    /// The fingerprint of the whole request, as `tombolo waits show` prints it
    #[arg(long, value_name = "FINGERPRINT")]
    seen: Option<String>,
    /// Record this name as the author of the answer; a hub uses the name of your account instead
    #[arg(long)]
    author: Option<Author>,
}

impl AnswerArgs {
    pub(super) async fn send(self, source: &WaitSource<'_>, output: CommandOutput) -> CommandResult {
        let Self { id, answer, reject, seen, author } = self;
        let open = match find(source.fetch().await?, &id) {
            Ok(open) => open,
            Err(missing) => {
                let settled = source.find_settled(&id).await.ok_or(missing)?;
                return Err(already_settled(&settled.wait));
            }
        };
        let answer = if reject {
            WaitAnswer::Reject
        } else {
            parse_answer(WaitPrompt::new(&open.wait.request), &answer)?
        };
        if !is_rejection(&answer) {
            check_seen(&open, seen.as_deref(), output).await?;
        }
        source.answer(&open, &AnswerWaitRequest { answer, author }, output).await
    }
}

/// The error of an answer that comes too late.
fn already_settled(wait: &Wait) -> CommandError {
    let is_answered = wait.settlement.as_ref().is_some_and(|settlement| settlement.author.is_some());
    let how = if is_answered { "was already answered" } else { "is no longer open, settled" };
    CommandError::AlreadySettled(format!("{} {how} {}", wait.id, view::settlement(wait)))
}

/// Whether an answer allows nothing.
fn is_rejection(answer: &WaitAnswer) -> bool {
    match answer {
        WaitAnswer::Permission(PermissionAnswer::Reject) | WaitAnswer::Reject => true,
        WaitAnswer::Permission(PermissionAnswer::Once | PermissionAnswer::Always) => false,
        WaitAnswer::Question(answers) => matches!(answers.as_slice(), [only] if only == &[REJECT]),
    }
}

/// Makes sure that the user could read all of the request: the list showed it, or they pass the fingerprint of the whole
/// text, or they confirm their answer below it.
async fn check_seen(open: &ListedWait, seen: Option<&str>, output: CommandOutput) -> CommandResult {
    let ListedWait { runtime, wait } = open;
    let text = WaitText::new(runtime.as_ref(), wait);
    let id = wait.id;
    match seen {
        Some(seen) if seen.eq_ignore_ascii_case(&text.fingerprint()) => Ok(()),
        Some(seen) => Err(CommandError::Usage(format!(
            "`{seen}` is not the fingerprint of this request: read it with `tombolo waits show {id}`, which prints the fingerprint"
        ))),
        None if !text.is_cut() => Ok(()),
        None if confirmation::is_interactive() && !output.json => {
            if confirmation::confirm(&text.full()).await? {
                Ok(())
            } else {
                Err(CommandError::Usage("not sent: the request stays open".into()))
            }
        }
        None => Err(CommandError::Usage(format!(
            "the list shows only the beginning of this request: read all of it with `tombolo waits show {id}`, and pass the fingerprint that it prints with --seen"
        ))),
    }
}

/// The one open wait that `id` stands for.
pub(super) fn find(open: Vec<ListedWait>, id: &str) -> Result<ListedWait, CommandError> {
    let mut matching: Vec<ListedWait> =
        open.into_iter().filter(|open| matches_id(open.wait.id, id)).collect();
    match (matching.pop(), matching.len()) {
        (Some(open), 0) => Ok(open),
        (Some(_), more) => {
            Err(CommandError::Usage(format!("`{id}` matches {} open waits: give more of the id", more + 1)))
        }
        (None, _) => Err(CommandError::Usage(format!(
            "no open wait has the id `{id}`: it may have been answered already; list them with `tombolo waits`"
        ))),
    }
}

fn matches_id(wait: WaitId, id: &str) -> bool {
    let name = wait.to_string();
    let bare = name.split_once('_').map_or("", |(_, bare)| bare);
    !id.is_empty() && (name.starts_with(id) || bare.starts_with(id) || bare.ends_with(id))
}

/// Reads the words on the command line as the answer to a prompt.
fn parse_answer(mut prompt: WaitPrompt, words: &[String]) -> Result<WaitAnswer, CommandError> {
    // `check_seen` decides whether the user has read it.
    prompt.mark_shown_in_full();
    let usage = |message: String| Err(CommandError::Usage(message));
    // The answer to a permission may be two words: `allow once`.
    let joined = [words.join(" ")];
    let mut words = if prompt.permission().is_some() { joined.iter() } else { words.iter() };
    while let Some(word) = words.next() {
        let answer = match prompt.parse_line(word) {
            TypedAnswer::Permission(answer) => WaitAnswer::Permission(answer),
            TypedAnswer::Question(answers) => WaitAnswer::Question(answers),
            TypedAnswer::Rejected => WaitAnswer::Reject,
            TypedAnswer::NextQuestion => continue,
            TypedAnswer::ShowAll => return usage(format!("`{word}` is not an answer")),
            TypedAnswer::Invalid(hint) => return usage(format!("`{word}` is not a valid answer: {hint}")),
        };
        return match words.next() {
            None => Ok(answer),
            Some(surplus) => usage(format!("too many answers: remove `{surplus}`")),
        };
    }
    usage("too few answers: give one for each question".into())
}

#[cfg(test)]
mod tests {
    use protocol::wait::{PermissionAnswer, QuestionItem, QuestionOption, QuestionRequest, WaitRequest};

    use super::*;

    #[test]
    fn a_wait_is_found_by_the_beginning_or_the_end_of_its_id() {
        let id: WaitId = "wat_0198c0de0198c0de0198c0de0198beef".parse().unwrap();
        for (text, expected) in [
            ("wat_0198c0de0198c0de0198c0de0198beef", true),
            ("wat_0198", true),
            ("0198c", true),
            ("beef", true),
            ("c0de", false),
            ("", false),
        ] {
            assert_eq!(matches_id(id, text), expected, "{text}");
        }
    }

    #[test]
    fn each_question_needs_its_answer() {
        let choice = |label: &str| QuestionOption { label: label.into(), description: None };
        let options = vec![choice("Red"), choice("Green")];
        let item =
            QuestionItem { question: "Which?".into(), header: None, options, ..QuestionItem::default() };
        let questions = vec![item.clone(), item];
        let request = WaitRequest::Question(QuestionRequest {
            id: WaitId::mint(),
            turn_id: None,
            call_id: None,
            questions,
            plan: None,
        });
        let read = |words: &[&str]| {
            parse_answer(
                WaitPrompt::new(&request),
                &words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>(),
            )
        };
        let answers = vec![vec!["Red".to_owned()], vec!["Green".to_owned()]];
        assert_eq!(read(&["1", "green"]).unwrap(), WaitAnswer::Question(answers));
        for wrong in [&["1"][..], &["1", "2", "2"], &["1", "Blue"]] {
            assert!(matches!(read(wrong), Err(CommandError::Usage(_))), "{wrong:?}");
        }
    }

    #[test]
    fn a_permission_is_allowed_or_denied() {
        let permission = serde_json::from_value(serde_json::json!({
            "id": WaitId::mint(), "turnId": null, "callId": null, "tool": "Bash", "kind": "execute",
            "title": "ls", "reason": null, "input": null, "alwaysAllows": [],
        }));
        let request = WaitRequest::Permission(permission.unwrap());
        for (word, answer) in [
            ("allow once", PermissionAnswer::Once),
            ("allow", PermissionAnswer::Once),
            ("allow always", PermissionAnswer::Always),
            ("deny", PermissionAnswer::Reject),
        ] {
            let words: Vec<String> = word.split(' ').map(str::to_owned).collect();
            let parsed = parse_answer(WaitPrompt::new(&request), &words).unwrap();
            assert_eq!(parsed, WaitAnswer::Permission(answer));
            assert_eq!(is_rejection(&parsed), answer == PermissionAnswer::Reject);
        }
    }
}
