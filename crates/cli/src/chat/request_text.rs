//! All that a wait asks of a user, as plain lines.

use protocol::wait::{PermissionRequest, QuestionRequest, WaitRequest};

use super::permission_view;

/// Every word of a request that the user decides about. Nothing is cut.
pub(crate) fn request_lines(request: &WaitRequest) -> Vec<String> {
    let lines = match request {
        WaitRequest::Permission(permission) => permission_lines(permission),
        WaitRequest::Question(question) => question_lines(question),
    };
    lines.iter().flat_map(|line| line.split('\n')).map(str::to_owned).collect()
}

/// Whether a value of the request has more than one line, so that it cannot be shown in one.
pub(crate) fn has_line_breaks(request: &WaitRequest) -> bool {
    match request {
        WaitRequest::Permission(permission) => {
            let PermissionRequest { tool, title, reason, input, .. } = permission;
            [tool, title].into_iter().chain(reason).any(|text| text.contains('\n'))
                || permission_view::has_line_breaks(input)
        }
        WaitRequest::Question(question) => {
            let items = || question.questions.iter();
            let labels = items().flat_map(|item| &item.options).map(|option| &option.label);
            let descriptions =
                items().flat_map(|item| &item.options).filter_map(|option| option.description.as_ref());
            let texts = items().map(|item| &item.question).chain(labels).chain(descriptions);
            question.plan.iter().chain(texts).any(|text| text.contains('\n'))
        }
    }
}

fn permission_lines(permission: &PermissionRequest) -> Vec<String> {
    let PermissionRequest { tool, title, reason, always_allows, .. } = permission;
    let mut lines = vec![if title == tool { tool.clone() } else { format!("{tool}: {title}") }];
    lines.extend(reason.iter().map(|reason| format!("  why     {reason}")));
    lines.extend(permission_view::lines(permission).into_iter().map(|(_, line)| line));
    lines.extend(always_allows.iter().map(|rule| format!("  always  {rule}")));
    lines
}

fn question_lines(question: &QuestionRequest) -> Vec<String> {
    let mut lines: Vec<String> =
        question.plan.iter().map(|plan| format!("plan: {}", plan.trim_end())).collect();
    for item in &question.questions {
        lines.push(item.question.clone());
        for (at, option) in item.options.iter().enumerate() {
            let description = option.description.as_deref().filter(|text| !text.is_empty());
            let description = description.map(|text| format!("  {text}")).unwrap_or_default();
            lines.push(format!("  {}  {}{description}", at + 1, option.label));
        }
    }
    lines
}
