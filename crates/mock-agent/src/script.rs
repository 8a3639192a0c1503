//! The script in a prompt: one step per line.

use std::time::Duration;

/// The largest text of one update, so that a typing error does not fill the memory.
const UPDATE_BYTES_MAX: usize = 64 << 20;

/// The longest pause between two pieces.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// One step of a script. The table in the crate documentation explains each.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PromptStep {
    Say(String),
    Think(String),
    Chunks(u64),
    Drip { count: u64, pause: Duration },
    Updates { count: u64, bytes: usize },
    Tool,
    Edit,
    Permission,
    Question,
    Plan,
    Approve(String),
    Commands,
    Remember(String),
    Recall,
    Servers,
    Fail { code: i64, message: String },
    Garbage,
    Hang,
    Crash(u8),
}

/// Parses the steps of a prompt.
pub(super) fn parse(prompt: &str) -> impl Iterator<Item = PromptStep> {
    prompt.lines().map(parse_line)
}

fn parse_line(line: &str) -> PromptStep {
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or_default();
    let rest = || line.trim_start_matches(command).trim().to_owned();
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    match command {
        "/chunks" => PromptStep::Chunks(number().unwrap_or(3)),
        "/drip" => {
            let count = number().unwrap_or(10);
            PromptStep::Drip { count, pause: Duration::from_millis(number().unwrap_or(20)).min(PAUSE_MAX) }
        }
        "/updates" => {
            let count = number().unwrap_or(100);
            let bytes = usize::try_from(number().unwrap_or(200)).unwrap_or(usize::MAX).min(UPDATE_BYTES_MAX);
            PromptStep::Updates { count, bytes }
        }
        "/think" => PromptStep::Think(rest()),
        "/tool" => PromptStep::Tool,
        "/edit" => PromptStep::Edit,
        "/permission" => PromptStep::Permission,
        "/question" => PromptStep::Question,
        "/plan" => PromptStep::Plan,
        "/approve" => PromptStep::Approve(rest()),
        "/commands" => PromptStep::Commands,
        "/remember" => PromptStep::Remember(rest()),
        "/recall" => PromptStep::Recall,
        "/servers" => PromptStep::Servers,
        "/fail" => {
            let code = words.next().and_then(|word| word.parse().ok()).unwrap_or(-32603);
            PromptStep::Fail { code, message: words.collect::<Vec<_>>().join(" ") }
        }
        "/garbage" => PromptStep::Garbage,
        "/hang" => PromptStep::Hang,
        "/crash" => PromptStep::Crash(number().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        _ => PromptStep::Say(line.to_owned()),
    }
}
