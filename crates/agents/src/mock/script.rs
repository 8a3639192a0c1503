//! What a prompt tells the mock to do.

use std::time::Duration;

/// The largest text of one update, so that a slip of the finger does not fill the memory.
const UPDATE_BYTES_MAX: usize = 64 << 20;

/// The longest pause between two pieces.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
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

/// The steps of a prompt, one a line.
pub(super) fn parse(prompt: &str) -> impl Iterator<Item = Step> {
    prompt.lines().map(step)
}

fn step(line: &str) -> Step {
    let mut words = line.split_whitespace();
    let command = words.next().unwrap_or_default();
    let rest = || line.trim_start_matches(command).trim().to_owned();
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    match command {
        "/chunks" => Step::Chunks(number().unwrap_or(3)),
        "/drip" => {
            let count = number().unwrap_or(10);
            Step::Drip { count, pause: Duration::from_millis(number().unwrap_or(20)).min(PAUSE_MAX) }
        }
        "/updates" => {
            let count = number().unwrap_or(100);
            let bytes = usize::try_from(number().unwrap_or(200)).unwrap_or(usize::MAX).min(UPDATE_BYTES_MAX);
            Step::Updates { count, bytes }
        }
        "/think" => Step::Think(rest()),
        "/tool" => Step::Tool,
        "/edit" => Step::Edit,
        "/permission" => Step::Permission,
        "/question" => Step::Question,
        "/plan" => Step::Plan,
        "/approve" => Step::Approve(rest()),
        "/commands" => Step::Commands,
        "/remember" => Step::Remember(rest()),
        "/recall" => Step::Recall,
        "/servers" => Step::Servers,
        "/fail" => {
            let code = words.next().and_then(|word| word.parse().ok()).unwrap_or(-32603);
            Step::Fail { code, message: words.collect::<Vec<_>>().join(" ") }
        }
        "/garbage" => Step::Garbage,
        "/hang" => Step::Hang,
        "/crash" => Step::Crash(number().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        _ => Step::Say(line.to_owned()),
    }
}
