//! What an agent asks: how it is shown, and what a typed line answers.

use protocol::{
    WaitId,
    wait::{
        APPROVE, PermissionAnswer, PermissionRequest, QuestionItem, QuestionRequest, REJECT, Wait,
        WaitRequest,
    },
};

use super::screen::{Look, Screen};
use crate::{exit::Outcome, output::plain_json};

/// The most of what a tool is called with that is shown.
const INPUT_CHARS_MAX: usize = 400;

/// Something that is asked, as far as it is answered.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(super) id: WaitId,
    what: What,
}

#[derive(Debug)]
enum What {
    Permission(PermissionRequest),
    Question { question: QuestionRequest, answers: Vec<Vec<String>> },
}

/// What a line comes to.
#[derive(Debug, PartialEq)]
pub(crate) enum Answered {
    /// It is answered.
    Permission(PermissionAnswer),
    /// It is answered: for each question what was chosen.
    Question(Vec<Vec<String>>),
    /// Nobody wants to answer.
    Rejected,
    /// The next question.
    More,
    /// The line is no answer: this is what would be.
    Again(&'static str),
}

impl Asking {
    pub(super) fn new(wait: &Wait) -> Self {
        Self::of(&wait.ask)
    }

    pub(crate) fn of(ask: &WaitRequest) -> Self {
        match ask.clone() {
            WaitRequest::Permission(permission) => {
                Self { id: permission.id, what: What::Permission(permission) }
            }
            WaitRequest::Question(question) => {
                Self { id: question.id, what: What::Question { question, answers: Vec::new() } }
            }
        }
    }

    /// What stands before the line that answers it.
    pub(super) fn prompt(&self) -> &'static str {
        match &self.what {
            What::Permission(_) => "allow? [o]nce [a]lways [r]eject > ",
            What::Question { .. } => "answer > ",
        }
    }

    /// Shows what is asked, or what is asked next.
    pub(super) fn show(&self, screen: &mut Screen) -> Outcome {
        match &self.what {
            What::Permission(permission) => show_permission(permission, screen),
            What::Question { question, answers } => {
                if let Some(plan) = question.plan.as_ref().filter(|_| answers.is_empty()) {
                    screen.line(Look::Yellow, "? the plan:")?;
                    screen.line(Look::Plain, plan.trim_end())?;
                }
                match question.questions.get(answers.len()) {
                    Some(item) => show_item(item, screen),
                    None => Ok(()),
                }
            }
        }
    }

    /// Takes a line that was typed.
    pub(crate) fn take(&mut self, line: &str) -> Answered {
        let line = line.trim();
        match &mut self.what {
            What::Permission(_) => match line.to_ascii_lowercase().as_str() {
                "o" | "once" | "y" | "yes" | "allow" => Answered::Permission(PermissionAnswer::Once),
                "a" | "always" => Answered::Permission(PermissionAnswer::Always),
                "r" | "reject" | "n" | "no" | "deny" => Answered::Permission(PermissionAnswer::Reject),
                _ => Answered::Again("type o for this time, a for always, or r to reject"),
            },
            What::Question { question, answers } => {
                let Some(item) = question.questions.get(answers.len()) else { return Answered::Rejected };
                if line == "/reject" {
                    return Answered::Rejected;
                }
                // A plan is allowed as a permission is.
                let line = match (question.plan.is_some(), line.to_ascii_lowercase().as_str()) {
                    (true, "allow" | "yes" | "y") => APPROVE,
                    (true, "deny" | "no" | "n") => REJECT,
                    _ => line,
                };
                let Some(chosen) = chosen(item, line) else {
                    return Answered::Again(match (item.multiple, item.custom) {
                        (true, _) => "type numbers with commas between, or /reject",
                        (false, true) => "type a number or an answer, or /reject",
                        (false, false) => "type one of the numbers, or /reject",
                    });
                };
                answers.push(chosen);
                match answers.len() == question.questions.len() {
                    true => Answered::Question(std::mem::take(answers)),
                    false => Answered::More,
                }
            }
        }
    }

    /// What holds when nobody can be asked.
    pub(crate) fn rejected(&self) -> Answered {
        match &self.what {
            What::Permission(_) => Answered::Permission(PermissionAnswer::Reject),
            What::Question { .. } => Answered::Rejected,
        }
    }
}

/// What, where and how far.
fn show_permission(permission: &PermissionRequest, screen: &mut Screen) -> Outcome {
    screen.spans(&[
        (Look::Yellow, "? the agent wants to use "),
        (Look::Bold, &permission.tool),
        (Look::Plain, if permission.title == permission.tool { "" } else { ": " }),
        (Look::Plain, if permission.title == permission.tool { "" } else { &permission.title }),
    ])?;
    if let Some(reason) = &permission.reason {
        screen.line(Look::Plain, &format!("  why     {reason}"))?;
    }
    if !permission.input.is_null() {
        let input: String =
            plain_json(permission.input.to_string().as_bytes()).chars().take(INPUT_CHARS_MAX).collect();
        screen.line(Look::Plain, &format!("  with    {input}"))?;
    }
    let always = match permission.always.as_slice() {
        [] => "the like, for the rest of this session".to_owned(),
        rules => rules.join("; "),
    };
    screen.line(Look::Dim, &format!("  always  {always}"))
}

fn show_item(item: &QuestionItem, screen: &mut Screen) -> Outcome {
    screen.spans(&[(Look::Yellow, "? "), (Look::Bold, &item.question)])?;
    for (at, option) in item.options.iter().enumerate() {
        let description = option.description.as_deref().filter(|text| !text.is_empty());
        let description = description.map(|text| format!("  {text}")).unwrap_or_default();
        let number = format!("  {}  ", at + 1);
        screen.spans(&[(Look::Cyan, &number), (Look::Plain, &option.label), (Look::Dim, &description)])?;
    }
    let hint = match (item.multiple, item.custom && !item.options.is_empty()) {
        (true, _) => "  more than one can be chosen, with commas between",
        (false, true) => "  or type an answer of your own",
        (false, false) => return Ok(()),
    };
    screen.line(Look::Dim, hint)
}

/// What a line chooses: by number, by label, or in its own words.
fn chosen(item: &QuestionItem, line: &str) -> Option<Vec<String>> {
    let one = |text: &str| {
        let text = text.trim();
        let number = text.parse::<usize>().ok().and_then(|number| item.options.get(number.checked_sub(1)?));
        let option =
            number.or_else(|| item.options.iter().find(|option| option.label.eq_ignore_ascii_case(text)));
        option.map(|option| option.label.clone())
    };
    if let Some(label) = one(line) {
        return Some(vec![label]);
    }
    let several: Option<Vec<_>> = line.split(',').map(one).collect();
    match several.filter(|_| item.multiple) {
        Some(several) => Some(several),
        None if item.custom && !line.is_empty() => Some(vec![line.to_owned()]),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use protocol::wait::QuestionOption;

    use super::*;

    fn item(multiple: bool, custom: bool) -> QuestionItem {
        let choice = |label: &str| QuestionOption { label: label.into(), description: None };
        let options = vec![choice("Red"), choice("Green")];
        QuestionItem { question: "Which?".into(), header: None, options, multiple, custom }
    }

    #[track_caller]
    fn check(item: &QuestionItem, line: &str, expected: Option<&[&str]>) {
        let expected: Option<Vec<String>> =
            expected.map(|labels| labels.iter().map(|&label| label.to_owned()).collect());
        assert_eq!(chosen(item, line), expected, "{line:?}");
    }

    #[test]
    fn a_line_chooses_by_number_by_label_or_in_its_own_words() {
        check(&item(false, false), "2", Some(&["Green"]));
        check(&item(false, false), "red", Some(&["Red"]));
        check(&item(false, false), "3", None);
        check(&item(false, false), "1,2", None);
        check(&item(true, false), "1, 2", Some(&["Red", "Green"]));
        check(&item(false, true), "Blue, or so", Some(&["Blue, or so"]));
        check(&item(false, true), "", None);
    }

    #[test]
    fn questions_are_answered_one_after_the_other() {
        let question = QuestionRequest {
            id: WaitId::mint(),
            turn_id: None,
            call_id: None,
            questions: vec![item(false, false), item(true, false)],
            plan: None,
        };
        let mut asking = Asking::of(&WaitRequest::Question(question.clone()));
        assert!(matches!(asking.take("x"), Answered::Again(_)));
        assert_eq!(asking.take("1"), Answered::More);
        let all = vec![vec!["Red".to_owned()], vec!["Red".to_owned(), "Green".to_owned()]];
        assert_eq!(asking.take("1,2"), Answered::Question(all));
        assert_eq!(Asking::of(&WaitRequest::Question(question)).take("/reject"), Answered::Rejected);
    }

    #[test]
    fn a_plan_is_allowed_as_a_permission_is() {
        let choice = |label: &str| QuestionOption { label: label.into(), description: None };
        let options = vec![choice(APPROVE), choice(REJECT)];
        let plan = QuestionRequest {
            id: WaitId::mint(),
            turn_id: None,
            call_id: None,
            questions: vec![QuestionItem { options, ..item(false, true) }],
            plan: Some("First this".into()),
        };
        for (line, chosen) in [("allow", APPROVE), ("Deny", REJECT), ("approve", APPROVE), ("later", "later")]
        {
            let answered = Asking::of(&WaitRequest::Question(plan.clone())).take(line);
            assert_eq!(answered, Answered::Question(vec![vec![chosen.to_owned()]]), "{line}");
        }
    }
}
