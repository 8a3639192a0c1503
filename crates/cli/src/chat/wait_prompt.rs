//! A wait (a permission request or questions of the agent) on the terminal: shows it and parses the answer that is typed.

use protocol::{
    WaitId,
    wait::{
        APPROVE, PermissionAnswer, PermissionRequest, QuestionItem, QuestionRequest, REJECT, Wait,
        WaitRequest,
    },
};

use super::{
    permission_view::{self, StyledLine},
    screen::{ChatScreen, TextStyle},
};
use crate::{answer_word, exit::CommandResult};

/// How much of a permission request a terminal shows at first: more would scroll its beginning away.
const FIRST_LINES_MAX: usize = 30;
const FIRST_CHARS_MAX: usize = 2_000;

/// A wait that the user has to answer, with the answers given so far.
#[derive(Debug)]
pub(crate) struct WaitPrompt {
    pub(super) id: WaitId,
    kind: PromptKind,
}

#[derive(Debug)]
enum PromptKind {
    Permission {
        permission: PermissionRequest,
        /// The user could read all of it. Until then it cannot be allowed.
        is_shown_in_full: bool,
    },
    Question {
        question: QuestionRequest,
        answers: Vec<Vec<String>>,
    },
}

/// The meaning of a line that was typed as an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum TypedAnswer {
    Permission(PermissionAnswer),
    /// The chosen options of every question.
    Question(Vec<Vec<String>>),
    /// The user does not want to answer.
    Rejected,
    /// The line answered one question, and another one follows.
    NextQuestion,
    /// The user wants to read all of the request.
    ShowAll,
    /// The line is not an answer. Contains a hint for the user.
    Invalid(&'static str),
}

impl WaitPrompt {
    pub(super) fn from_wait(wait: &Wait) -> Self {
        Self::new(&wait.request)
    }

    pub(crate) fn new(request: &WaitRequest) -> Self {
        match request.clone() {
            WaitRequest::Permission(permission) => {
                let kind = PromptKind::Permission { permission: permission.clone(), is_shown_in_full: false };
                Self { id: permission.id, kind }
            }
            WaitRequest::Question(question) => {
                Self { id: question.id, kind: PromptKind::Question { question, answers: Vec::new() } }
            }
        }
    }

    /// The permission request; `None` if it is a question or a plan.
    pub(crate) fn permission(&self) -> Option<&PermissionRequest> {
        match &self.kind {
            PromptKind::Permission { permission, .. } => Some(permission),
            PromptKind::Question { .. } => None,
        }
    }

    /// The prompt in front of the line that answers it.
    pub(super) fn prompt(&self) -> &'static str {
        match &self.kind {
            PromptKind::Permission { is_shown_in_full: true, .. } => answer_word::PROMPT,
            PromptKind::Permission { .. } => answer_word::PROMPT_CUT,
            PromptKind::Question { .. } => "answer > ",
        }
    }

    /// Shows the permission request, or the next question.
    pub(super) fn show(&mut self, screen: &mut ChatScreen) -> CommandResult {
        match &mut self.kind {
            PromptKind::Permission { permission, is_shown_in_full } => {
                let lines = permission_view::lines(permission);
                let first = if screen.has_reader() { first_lines(&lines) } else { lines.len() };
                *is_shown_in_full = first == lines.len();
                show_permission(permission, &lines, first, screen)
            }
            PromptKind::Question { question, answers } => {
                if let Some(plan) = question.plan.as_ref().filter(|_| answers.is_empty()) {
                    screen.line(TextStyle::Yellow, "? the agent proposes a plan:")?;
                    screen.line(TextStyle::Plain, plan.trim_end())?;
                }
                match question.questions.get(answers.len()) {
                    Some(item) => show_item(item, screen),
                    None => Ok(()),
                }
            }
        }
    }

    /// Shows all of a permission request.
    pub(super) fn show_all(&mut self, screen: &mut ChatScreen) -> CommandResult {
        if let PromptKind::Permission { permission, is_shown_in_full } = &mut self.kind {
            *is_shown_in_full = true;
            let lines = permission_view::lines(permission);
            return show_permission(permission, &lines, lines.len(), screen);
        }
        Ok(())
    }

    /// Records that the caller has shown all of the request, or checks elsewhere that the user has read it.
    pub(crate) fn mark_shown_in_full(&mut self) {
        if let PromptKind::Permission { is_shown_in_full, .. } = &mut self.kind {
            *is_shown_in_full = true;
        }
    }

    /// Parses a typed line. Answers to all but the last question are stored.
    pub(crate) fn parse_line(&mut self, line: &str) -> TypedAnswer {
        let line = line.trim();
        match &mut self.kind {
            PromptKind::Permission { is_shown_in_full, .. } => match line.to_ascii_lowercase().as_str() {
                "s" | "show" => TypedAnswer::ShowAll,
                words => match answer_word::parse(words) {
                    Some(PermissionAnswer::Once | PermissionAnswer::Always) if !*is_shown_in_full => {
                        TypedAnswer::Invalid(
                            "part of the request is not shown yet: type s to show all of it first",
                        )
                    }
                    Some(answer) => TypedAnswer::Permission(answer),
                    None => TypedAnswer::Invalid(answer_word::HINT),
                },
            },
            PromptKind::Question { question, answers } => {
                let Some(item) = question.questions.get(answers.len()) else { return TypedAnswer::Rejected };
                if line == "/reject" {
                    return TypedAnswer::Rejected;
                }
                // A plan accepts the same words as a permission request.
                let line = match answer_word::parse(line).filter(|_| question.plan.is_some()) {
                    Some(PermissionAnswer::Once | PermissionAnswer::Always) => APPROVE,
                    Some(PermissionAnswer::Reject) => REJECT,
                    None => line,
                };
                let Some(chosen) = parse_choice(item, line) else {
                    return TypedAnswer::Invalid(match (item.allows_multiple, item.allows_custom) {
                        (true, _) => "type numbers separated by commas, or /reject",
                        (false, true) => "type a number or an answer, or /reject",
                        (false, false) => "type the number of an option, or /reject",
                    });
                };
                answers.push(chosen);
                if answers.len() == question.questions.len() {
                    TypedAnswer::Question(std::mem::take(answers))
                } else {
                    TypedAnswer::NextQuestion
                }
            }
        }
    }

    /// The answer to give when no user can be asked.
    pub(crate) fn rejection(&self) -> TypedAnswer {
        match &self.kind {
            PromptKind::Permission { .. } => TypedAnswer::Permission(PermissionAnswer::Reject),
            PromptKind::Question { .. } => TypedAnswer::Rejected,
        }
    }
}

/// How many of the lines are shown at first.
fn first_lines(lines: &[StyledLine]) -> usize {
    let mut chars = 0;
    let fits = |(at, (_, line)): &(usize, &StyledLine)| {
        chars += line.chars().count();
        *at < FIRST_LINES_MAX && chars <= FIRST_CHARS_MAX
    };
    lines.iter().enumerate().take_while(fits).count()
}

/// Shows the first lines of a permission request, and how much more there is.
fn show_permission(
    permission: &PermissionRequest,
    lines: &[StyledLine],
    first: usize,
    screen: &mut ChatScreen,
) -> CommandResult {
    screen.spans(&[
        (TextStyle::Yellow, "? the agent wants to use "),
        (TextStyle::Bold, &permission.tool),
        (TextStyle::Plain, if permission.title == permission.tool { "" } else { ": " }),
        (TextStyle::Plain, if permission.title == permission.tool { "" } else { &permission.title }),
    ])?;
    if let Some(reason) = &permission.reason {
        screen.line(TextStyle::Plain, &format!("  why     {reason}"))?;
    }
    let (shown, hidden) = lines.split_at(first);
    shown.iter().try_for_each(|(style, line)| screen.line(*style, line))?;
    if !hidden.is_empty() {
        let characters: usize = hidden.iter().map(|(_, line)| line.chars().count()).sum();
        let more = format!("  … {characters} more characters: type s to show all");
        screen.line(TextStyle::Yellow, &more)?;
    }
    let always = match permission.always_allows.as_slice() {
        [] => "similar calls, for the rest of this session".to_owned(),
        rules => rules.join("; "),
    };
    screen.line(TextStyle::Dim, &format!("  always  {always}"))
}

fn show_item(item: &QuestionItem, screen: &mut ChatScreen) -> CommandResult {
    screen.spans(&[(TextStyle::Yellow, "? "), (TextStyle::Bold, &item.question)])?;
    for (at, option) in item.options.iter().enumerate() {
        let description = option.description.as_deref().filter(|text| !text.is_empty());
        let description = description.map(|text| format!("  {text}")).unwrap_or_default();
        let number = format!("  {}  ", at + 1);
        screen.spans(&[
            (TextStyle::Cyan, &number),
            (TextStyle::Plain, &option.label),
            (TextStyle::Dim, &description),
        ])?;
    }
    let hint = match (item.allows_multiple, item.allows_custom && !item.options.is_empty()) {
        (true, _) => "  choose one or more, separated by commas",
        (false, true) => "  or type your own answer",
        (false, false) => return Ok(()),
    };
    screen.line(TextStyle::Dim, hint)
}

/// The options that a line chooses by number or label, or the line itself if the question allows other answers.
fn parse_choice(item: &QuestionItem, line: &str) -> Option<Vec<String>> {
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
    match several.filter(|_| item.allows_multiple) {
        Some(several) => Some(several),
        None if item.allows_custom && !line.is_empty() => Some(vec![line.to_owned()]),
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
        QuestionItem {
            question: "Which?".into(),
            header: None,
            options,
            allows_multiple: multiple,
            allows_custom: custom,
            ..QuestionItem::default()
        }
    }

    #[track_caller]
    fn check(item: &QuestionItem, line: &str, expected: Option<&[&str]>) {
        let expected: Option<Vec<String>> =
            expected.map(|labels| labels.iter().map(|&label| label.to_owned()).collect());
        assert_eq!(parse_choice(item, line), expected, "{line:?}");
    }

    #[test]
    fn an_option_is_chosen_by_number_or_label_and_other_text_where_allowed() {
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
        let mut prompt = WaitPrompt::new(&WaitRequest::Question(question.clone()));
        assert!(matches!(prompt.parse_line("x"), TypedAnswer::Invalid(_)));
        assert_eq!(prompt.parse_line("1"), TypedAnswer::NextQuestion);
        let all = vec![vec!["Red".to_owned()], vec!["Red".to_owned(), "Green".to_owned()]];
        assert_eq!(prompt.parse_line("1,2"), TypedAnswer::Question(all));
        assert_eq!(
            WaitPrompt::new(&WaitRequest::Question(question)).parse_line("/reject"),
            TypedAnswer::Rejected
        );
    }

    #[test]
    fn a_long_request_is_allowed_only_after_all_of_it_was_shown() {
        let permission = |command: &str| {
            let request = serde_json::json!({
                "id": WaitId::mint(), "turnId": null, "callId": null, "tool": "Bash", "kind": "execute", "title": "Bash",
                "reason": null, "input": { "command": command }, "alwaysAllows": [],
            });
            WaitPrompt::new(&WaitRequest::Permission(serde_json::from_value(request).unwrap()))
        };
        let PromptKind::Permission { permission: long, .. } = permission(&"x\n".repeat(100)).kind else {
            panic!("not a permission")
        };
        assert_eq!(first_lines(&permission_view::lines(&long)), FIRST_LINES_MAX);
        let mut prompt = permission(&"x".repeat(FIRST_CHARS_MAX));
        for line in ["o", "a", "yes"] {
            assert!(matches!(prompt.parse_line(line), TypedAnswer::Invalid(_)), "{line}");
        }
        assert_eq!(prompt.parse_line("r"), TypedAnswer::Permission(PermissionAnswer::Reject));
        assert_eq!(prompt.parse_line("s"), TypedAnswer::ShowAll);
        prompt.show_all(&mut ChatScreen::new(false)).unwrap();
        assert_eq!(prompt.parse_line("o"), TypedAnswer::Permission(PermissionAnswer::Once));
    }

    #[test]
    fn a_plan_accepts_the_words_of_a_permission_request() {
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
            let answer = WaitPrompt::new(&WaitRequest::Question(plan.clone())).parse_line(line);
            assert_eq!(answer, TypedAnswer::Question(vec![vec![chosen.to_owned()]]), "{line}");
        }
    }
}
