use protocol::relay::{RawJson, RelayContext, Request};
use serde_json::{Value, json};

use super::*;

/// How wide the terminal of these tests is.
const COLUMNS: usize = 200;

fn request(method: &str, params: &Value) -> Request {
    let context = RelayContext { session_id: Some("s-1".into()), ..RelayContext::default() };
    Request {
        id: "1".into(),
        method: method.into(),
        params: RawJson::from_value(params),
        context: Some(context),
    }
}

fn ask(method: &str, params: &Value) -> Result<Vec<String>, Unanswered> {
    let request = request(method, params);
    let question =
        ApprovalQuestion::new(device::Question { request: &request, subject: None, agreement: None })?;
    assert!(matches!(question.parse_answer("a"), QuestionReply::Invalid(_)));
    Ok(question.first_rows(COLUMNS))
}

#[track_caller]
fn check(method: &str, params: &Value, expected: &[&str]) {
    assert_eq!(ask(method, params).unwrap(), expected);
}

/// relay-143, relay-144: what would be run is shown as it is, with where and how.
#[test]
fn a_command_is_shown_as_it_would_be_run() {
    let later = "  later | input to the running command is allowed without asking";
    check(
        "shell.start",
        &json!({ "command": "cargo test", "cwd": "/workspace/main" }),
        &["? session s-1 wants to run a command", "  what  | cargo test", "  where | /workspace/main", later],
    );
    // The end of a line is one, and what only looks like one is none.
    check(
        "shell.start",
        &json!({ "command": "echo a\nrm -rf b\\nc\u{202e}d", "env": { "KEY": "one\ntwo" } }),
        &[
            "? session s-1 wants to run a command of 2 lines",
            "  what  | echo a",
            "        | rm -rf b\\nc<U+202E>d",
            "  env   | KEY=one<U+000A>two",
            later,
        ],
    );
    check(
        "shell.start",
        &json!({
            "argv": ["sh", "-c", "a\nb", "c\\nd e"], "pty": { "cols": 80, "rows": 24 }, "background": true
        }),
        &[
            "? session s-1 wants to run a command in a terminal in the background",
            r#"  what  | ["sh","-c","a\nb","c\\nd e"]"#,
            later,
        ],
    );
}

/// relay-144: how a file is written is shown, and how much.
#[test]
fn a_change_of_a_file_is_shown_with_how_far_it_goes() {
    let write = |more: Value| {
        let mut params =
            json!({ "root_id": "main", "path": "a.txt", "content": "one\ntwo", "encoding": "utf-8" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    for (more, expected) in [
        (json!({}), "write a file, replacing it if it exists"),
        (json!({ "create": "new" }), "write a new file"),
        (json!({ "create": "existing" }), "replace an existing file"),
        (json!({ "append": true }), "append to a file, creating it if it does not exist"),
        (json!({ "append": true, "create": "existing" }), "append to an existing file"),
        (
            json!({ "if_match": { "sha256": "0".repeat(64) } }),
            "write a file, replacing it if it exists, unless it has changed",
        ),
    ] {
        check(
            "file.write",
            &write(more),
            &[
                &format!("? session s-1 wants to {expected}"),
                "  what  | one",
                "        | two",
                "  where | main:a.txt",
                "  size  | 7 bytes, sent as utf-8",
            ],
        );
    }
    let rows = ask("file.write", &write(json!({ "content": "AP+A", "encoding": "base64" }))).unwrap();
    let size = "  size  | 3 bytes, sent as base64, shown so because it is not text";
    assert_eq!(rows[1..], ["  what  | AP+A", "  where | main:a.txt", size]);
    let rows = ask("file.write", &write(json!({ "content": "aGk=", "encoding": "base64" }))).unwrap();
    assert_eq!(rows[1..], ["  what  | hi", "  where | main:a.txt", "  size  | 2 bytes, sent as base64"]);
    for (method, more, expected) in [
        ("file.delete", json!({}), "delete a file or an empty directory"),
        ("file.delete", json!({ "recursive": true }), "delete a file, or a directory with all its contents"),
        ("file.mkdir", json!({}), "create a directory"),
        ("file.mkdir", json!({ "parents": true }), "create a directory, including missing parents"),
    ] {
        let expected = format!("? session s-1 wants to {expected}");
        check(method, &write(more), &[&expected, "  where | main:a.txt"]);
    }
}

/// relay-143: "an approval applies to the exact arguments shown": what is cut cannot be allowed before all of it was shown.
#[test]
fn a_long_request_is_allowed_only_after_all_of_it_was_shown() {
    let tail = "; touch HIDDEN-PART";
    let (long, high) = (format!("{}{tail}", "x".repeat(3000)), format!("{}{tail}", "x\n".repeat(90)));
    let write = |content: &str, encoding: &str| json!({ "root_id": "main", "path": "a", "content": content, "encoding": encoding });
    for (method, params, hidden) in [
        ("shell.start", json!({ "command": long }), Some("        … 1019 more characters")),
        ("shell.start", json!({ "command": high }), Some("        … 120 more characters")),
        ("shell.start", json!({ "command": "\n".repeat(100) + tail }), None),
        ("shell.start", json!({ "argv": ["echo", long] }), None),
        ("shell.start", json!({ "command": "true", "env": { "KEY": long } }), None),
        ("tool.call", json!({ "name": "open", "arguments": { "line": long } }), None),
        ("file.write", write(&long, "utf-8"), None),
        ("file.write", write(&high, "utf-8"), None),
        ("file.write", json!({ "what": long }), None),
        // Many fields that are short themselves.
        (
            "shell.start",
            json!({ "command": "true", "env": (0..200).map(|at| (format!("K{at:03}"), if at == 199 { tail } else { "" })).collect::<std::collections::BTreeMap<_, _>>() }),
            None,
        ),
    ] {
        let request = request(method, &params);
        let asked = device::Question { request: &request, subject: None, agreement: None };
        let mut question = ApprovalQuestion::new(asked).unwrap();
        let first = question.first_rows(COLUMNS).join("\n");
        assert!(first.contains(" more characters") && !first.contains("HIDDEN-PART"), "{first}");
        assert!(hidden.is_none_or(|hidden| first.contains(hidden)), "{first}");
        assert_eq!(question.prompt(), answer_word::PROMPT_CUT);
        for allowed in ["y", "yes", "a"] {
            assert!(matches!(question.parse_answer(allowed), QuestionReply::Invalid(_)), "{allowed}");
        }
        assert_eq!(question.parse_answer("n"), QuestionReply::Answer(Answer::No));
        assert_eq!(question.parse_answer("s"), QuestionReply::ShowAll);
        let all = question.show_all(usize::MAX).join("\n");
        assert!(all.contains("HIDDEN-PART") && !all.contains(" more characters"), "{all}");
        assert_eq!(question.parse_answer("y"), QuestionReply::Answer(Answer::Once));
    }
}

/// relay-143: nobody reads a request of a megabyte on a terminal.
#[test]
fn what_is_too_long_is_not_asked() {
    for text in ["x".repeat(ALL_CHARS_MAX), "\n".repeat(ALL_CHARS_MAX), "\u{200b}".repeat(ALL_CHARS_MAX / 4)]
    {
        assert_eq!(ask("shell.start", &json!({ "command": text })), Err(Unanswered::TooLong));
    }
    check(
        "tool.call",
        &json!({ "name": "open", "arguments": { "line": 3 } }),
        &["? session s-1 wants to use the tool open", r#"  what  | {"line":3}"#],
    );
    check("file.write", &json!({}), &["? session s-1 wants to call file.write", "  what  | {}"]);
}

/// relay-143: the question states exactly which requests `always` allows.
#[test]
fn a_question_says_what_is_remembered() {
    let root = Subject::Root("main".parse().unwrap());
    let tool = Subject::Tool { name: "open".parse().unwrap(), fingerprint: "f".into() };
    let at = "/workspace/main".parse().unwrap();
    let command = Subject::Command { at, sha256: [0; 32].into() };
    let (run, session) = (Some(Run::Run("r-1".into())), Some(Run::Session("s-1".into())));
    for (method, subject, workspace, run, expected) in [
        ("file.write", &root, Some("w"), None, "writing any file in main, for workspace w"),
        (
            "file.mkdir",
            &root,
            None,
            None,
            "creating any directory in main, for requests that name no workspace",
        ),
        (
            "file.delete",
            &root,
            Some("w"),
            run.clone(),
            "deleting anything in main, for workspace w in run r-1",
        ),
        (
            "shell.start",
            &command,
            Some("w"),
            session,
            "exactly this command, in the same directory and with the same variables, for workspace w in session s-1",
        ),
        (
            "tool.call",
            &tool,
            Some("w\u{202e}"),
            None,
            "every call of open, with any arguments, as long as the tool does not change, for workspace w<U+202E>",
        ),
    ] {
        let agreement =
            Agreement { method, subject: subject.clone(), workspace: workspace.map(Into::into), run };
        let request = request(method, &json!({}));
        let question =
            device::Question { request: &request, subject: Some(subject), agreement: Some(&agreement) };
        let question = ApprovalQuestion::new(question).unwrap();
        let expected = format!("  always| {expected}, until you type `forget` or the device stops");
        assert_eq!(question.first_rows(COLUMNS).last(), Some(&expected));
        assert_eq!(question.prompt(), answer_word::PROMPT);
        for (line, answer) in [("y", Answer::Once), (" Always ", Answer::Remember), ("NO", Answer::No)] {
            assert_eq!(question.parse_answer(line), QuestionReply::Answer(answer));
        }
        for line in ["", "yy"] {
            assert!(matches!(question.parse_answer(line), QuestionReply::Invalid(_)), "{line}");
        }
    }
    // Without `cwd` the directory comes from the policy's subject.
    let request = request("shell.start", &json!({ "command": "true" }));
    let question = device::Question { request: &request, subject: Some(&command), agreement: None };
    assert_eq!(ApprovalQuestion::new(question).unwrap().first_rows(COLUMNS)[2], "  where | /workspace/main");
}
