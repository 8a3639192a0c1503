//! What a prompt tells the mock to do.

/// The largest text of one update, so that a slip of the finger does not fill the memory.
const UPDATE_BYTES_MAX: usize = 64 << 20;

/// One thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Say(String),
    Think(String),
    Chunks(u64),
    Updates { count: u64, bytes: usize },
    Tool,
    Permission,
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
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    match command {
        "/chunks" => Step::Chunks(number().unwrap_or(3)),
        "/updates" => {
            let count = number().unwrap_or(100);
            let bytes = usize::try_from(number().unwrap_or(200)).unwrap_or(usize::MAX).min(UPDATE_BYTES_MAX);
            Step::Updates { count, bytes }
        }
        "/think" => Step::Think(line.trim_start_matches("/think").trim().to_owned()),
        "/tool" => Step::Tool,
        "/permission" => Step::Permission,
        "/garbage" => Step::Garbage,
        "/hang" => Step::Hang,
        "/crash" => Step::Crash(number().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        _ => Step::Say(line.to_owned()),
    }
}
