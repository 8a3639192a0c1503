use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use protocol::{ProblemKind, SessionProjection, hub};
use serde_json::json;

use super::*;
use crate::policy::{
    CombinedPolicy, Policy, PolicySubject, RedactionPolicy, Visibility, current::PolicyFile,
};

/// A word that is said: anything, or a path that is hidden.
#[derive(Debug, Clone)]
enum Word {
    Plain(String),
    Path(String),
    Quoted(String),
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        3 => "[a-zé/.~-]{0,8}".prop_map(Word::Plain),
        1 => Just(Word::Plain("/home/joe/code/.ssh".into())),
        2 => "/home/[a-z]{1,3}/\\.ssh/SECRET[a-z/]{0,4}".prop_map(Word::Path),
        1 => "/home/[a-z]{1,3}/\\.ssh/SECRET a [a-z]{0,4}".prop_map(Word::Quoted),
    ]
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    proptest::collection::vec(word(), 0..6)
}

fn said(words: &[Word], show: bool) -> String {
    let one = |word: &Word| match word {
        Word::Plain(word) => word.clone(),
        Word::Path(_) if show => "***".into(),
        Word::Quoted(_) if show => "'***'".into(),
        Word::Path(path) => path.clone(),
        Word::Quoted(path) => format!("'{path}'"),
    };
    // Not at the beginning, which would make it whole where it is no prose.
    format!("say {}", words.iter().map(one).collect::<Vec<_>>().join(" "))
}

fn hidden() -> HiddenContent {
    let paths = vec!["/home/*/.ssh/**".to_owned()].try_into().unwrap();
    HiddenContent { thinking: true, tool_output: true, paths, directories: None }
}

const VARIANTS: usize = 23;

/// An event of each kind, of these words: what is said, a path, what is thought, and what a tool gave.
fn event(variant: usize, said: &str, path: &str, thought: &str, given: &str) -> Event {
    let id = "00000000000000000000000000000000";
    let (turn, input, wait) = (format!("trn_{id}"), format!("inp_{id}"), format!("wat_{id}"));
    let given_or_null = if given.is_empty() { json!(null) } else { json!(given) };
    let relative = if path == "***" { "***" } else { ".ssh/SECRET" };
    let edits = if given.is_empty() { json!(null) } else { json!([{ "old": given, "new": given }]) };
    let thoughts: Vec<&str> = Some(thought).filter(|thought| !thought.is_empty()).into_iter().collect();
    let thought_or_null = if thought.is_empty() { json!(null) } else { json!(thought) };
    // Over ACP a tool without a name is called by its title.
    let think = if thought.is_empty() { "think" } else { thought };
    let mut result =
        json!({ "id": "3", "type": "toolResult", "callId": "c", "output": given, "isError": true });
    let mut newer = json!({ "id": "8", "type": "newer" });
    if !given.is_empty() {
        result["diffs"] = json!([{ "path": path, "newText": given }]);
        newer["inside"] = json!([thought, given, path]);
    }
    let message = json!({ "id": "m", "role": "assistant", "turnId": turn, "parts": [
        { "id": "0", "type": "text", "text": said },
        { "id": "1", "type": "reasoning", "text": thought },
        { "id": "2", "type": "toolCall", "callId": "c", "name": "cat", "kind": "read", "title": said,
            "input": { "path": path, "command": said }, "status": "running" },
        result,
        { "id": "4", "type": "toolCall", "callId": "d", "name": think, "kind": "think", "title": thought_or_null,
            "input": thought_or_null, "status": "running" },
        { "id": "9", "type": "toolCall", "callId": "e", "name": "write", "kind": "edit", "title": said,
            "input": { "path": path, "content": given_or_null, "replace_all": true }, "status": "running" },
        { "id": "5", "type": "file", "name": given_or_null, "mimeType": null, "uri": given_or_null, "text": given_or_null },
        { "id": "6", "type": "image", "mimeType": "image/png", "data": given_or_null, "uri": null },
        { "id": "7", "type": "unparsed", "raw": given_or_null, "error": given },
        newer,
    ] });
    let permission = json!({ "id": wait, "turnId": turn, "callId": "c", "tool": "cat", "kind": "read", "title": said,
        "reason": said, "input": { "path": path }, "alwaysAllows": [said] });
    let write = json!({ "id": wait, "turnId": turn, "callId": "e", "tool": "file.write", "kind": "edit",
        "title": format!("file.write `{path}` on lap"), "reason": said, "alwaysAllows": [said],
        "input": { "root_id": "home", "path": relative, "content": given_or_null, "edits": edits } });
    let ponder = json!({ "id": wait, "turnId": turn, "callId": "d", "tool": think, "kind": "think", "title": think,
        "reason": thought_or_null, "input": thought_or_null, "alwaysAllows": thoughts });
    let question = json!({ "id": wait, "turnId": turn, "callId": null, "plan": said, "questions": [{ "question": said,
        "header": null, "options": [{ "label": said, "description": said }], "allowsMultiple": false, "allowsCustom": true }] });
    let steps = json!([{ "text": said, "state": "pending" }]);
    let commands = json!([{ "name": "review", "description": said, "hint": null }]);
    let errors = [
        json!({ "processExited": { "code": 1, "signal": null, "stderr": given } }),
        json!({ "modelError": { "status": 529, "message": given } }),
        json!({ "unsupported": { "feature": "images", "message": given } }),
        json!({ "other": { "message": given } }),
        if given.is_empty() {
            json!({ "newer": null })
        } else {
            json!({ "newer": { "data": { "output": [given] } } })
        },
    ];
    let error = errors[0].clone();
    let session = json!({
        "id": "w", "agent": "mock", "agentSessionId": null, "title": said, "agentMode": "", "permissionMode": "default",
        "model": said, "variant": null, "directory": path, "state": "idle", "turnId": null, "queuedInputs": 0, "openWaits": 0,
        "usage": {}, "error": error, "capabilities": protocol::agents::AgentCapabilities::default(),
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "newest": 0,
    });
    let queued = json!({ "id": input, "turnId": turn, "author": "joe", "message": said, "state": "accepted",
        "acceptedAt": "2026-01-01T00:00:00Z", "attachments": [{ "type": "file", "path": path }] });
    let waiting = |permission: &Value| {
        json!({ "id": wait, "sessionId": "w", "turnId": turn, "request": { "permission": permission },
        "openedAt": "2026-01-01T00:00:00Z", "expiresAt": null, "defaultAnswer": "reject", "settlement": null })
    };
    let delta = |kind: &str, part: &str, text: &str| json!({ "messageDelta": { "messageId": "d", "partId": part, "kind": kind, "text": text } });
    let newer =
        if given.is_empty() { json!({ "newer": null }) } else { json!({ "newer": { "id": [given, path] } }) };
    let mut events = vec![
        json!({ "started": { "model": said, "mode": said, "version": "1", "resumed": false } }),
        json!({ "message": message }),
        delta("text", "0", said),
        delta("reasoning", "1", thought),
        delta("toolOutput", "2", given),
        json!({ "turnStarted": { "turnId": turn, "inputId": input } }),
        json!({ "turnEnded": { "turnId": turn, "reason": "completed", "usage": null } }),
        json!({ "input": { "inputId": input, "state": "accepted", "author": "joe", "message": said, "reason": said } }),
        json!({ "error": error }),
        json!({ "questionAsked": question }),
        json!({ "questionResolved": { "id": wait, "outcome": { "answered": [[said]] }, "author": "joe" } }),
        json!({ "permissionAsked": permission }),
        json!({ "permissionResolved": { "id": wait, "outcome": "once", "author": "joe" } }),
        json!({ "status": { "state": "running", "detail": said } }),
        json!({ "plan": { "steps": steps } }),
        json!({ "commandsUpdated": { "commands": commands } }),
        json!({ "ended": { "reason": "deleted" } }),
        json!({ "permissionAsked": write }),
        json!({ "permissionAsked": ponder }),
        json!({ "error": errors[1] }),
        json!({ "error": errors[2] }),
        json!({ "error": errors[3] }),
        json!({ "error": errors[4] }),
        newer,
        json!({ "snapshot": { "seq": 1, "session": session, "messages": [message], "hasEarlier": false, "waits": [waiting(&permission), waiting(&write), waiting(&ponder)],
            "inputs": [queued], "plan": { "steps": steps }, "commands": commands } }),
    ];
    serde_json::from_value(events.swap_remove(variant)).unwrap()
}

/// The last text of a delta may be the beginning of a path; a blank tells that it is not.
fn ended(words: &[Word], show: bool) -> String {
    said(words, show) + " "
}

proptest! {
    /// observation-68, observation-70: nothing that is hidden is anywhere in what is shown, and everything else is as it was.
    #[test]
    fn what_is_hidden_is_nowhere(variant in 0..VARIANTS + 2, words in words(), thought in "THOUGHT[a-z]{0,5}", given in "GIVEN[a-z]{0,5}") {
        let path = "/home/joe/.ssh/SECRET with blanks";
        let told = event(variant, &ended(&words, false), path, &thought, &given);
        let shown = hidden().redact_stream().event(&told).unwrap_or_else(|| told.clone());
        let bytes = serde_json::to_string(&shown).unwrap();
        for secret in ["SECRET", "THOUGHT", "GIVEN"] {
            prop_assert!(!bytes.contains(secret), "{}", bytes);
        }
        prop_assert_eq!(&shown, &event(variant, &ended(&words, true), "***", "", ""));
        // Whoever sees everything, or has nothing hidden, gets what was told.
        prop_assert_eq!(HiddenContent::default().redact_stream().event(&told).map(|_| ()), matches!(told, Event::Snapshot(_)).then_some(()));
    }

    /// observation-68: a path that comes in pieces is hidden too, and what they come to is the same either way.
    #[test]
    fn what_comes_in_pieces_is_hidden_too(words in words(), cuts in proptest::collection::vec(0..200usize, 0..8)) {
        let (whole, expected) = (said(&words, false), said(&words, true));
        let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| whole.is_char_boundary(*cut)).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let Event::Snapshot(empty) = event(VARIANTS + 1, "say", "***", "", "") else { panic!("no snapshot") };
        let mut empty = *empty;
        empty.messages.clear();
        let turn = event(5, "", "", "", "");
        let message = |text: &str| -> Event {
            let parts = match text { "" => json!([]), text => json!([{ "id": "0", "type": "text", "text": text }]) };
            let Event::TurnStarted(turn) = &turn else { panic!("no turn") };
            serde_json::from_value(json!({ "message": { "id": "m", "role": "assistant", "turnId": turn.turn_id, "parts": parts } })).unwrap()
        };
        let mut events = vec![turn.clone(), message("")];
        events.extend(cuts.windows(2).map(|cut| {
            let delta = json!({ "messageId": "m", "partId": "0", "kind": "text", "text": &whole[cut[0]..cut[1]] });
            serde_json::from_value(json!({ "messageDelta": delta })).unwrap()
        }));
        let mut look = hidden().redact_stream();
        let (mut told, mut shown) = (SessionProjection::new(empty.clone()), SessionProjection::new(look.snapshot(empty.clone())));
        look.begin(&empty);
        let mut pieces = String::new();
        let mut apply = |event: &Event, goes_on: bool| {
            let seen = look.event(event).unwrap_or_else(|| event.clone());
            if let Event::MessageDelta(delta) = &seen {
                pieces.push_str(&delta.text);
            }
            told.apply(event, Timestamp::UNIX_EPOCH);
            shown.apply(&seen, Timestamp::UNIX_EPOCH);
            // Whoever comes now and whoever was there know the same, and somebody who looks through a new lens too.
            prop_assert_eq!(look.snapshot(told.snapshot()), shown.snapshot());
            let mut late = hidden().redact_stream();
            late.begin(&told.snapshot());
            if goes_on {
                prop_assert_eq!(late.snapshot(told.snapshot()), shown.snapshot());
            }
            Ok(())
        };
        for event in &events {
            apply(event, true)?;
        }
        apply(&message(&whole), false)?;
        prop_assert!(expected.starts_with(&pieces), "{} of {}", pieces, expected);
        prop_assert!(!pieces.contains("SECRET"));
    }
}

/// observation-68: what lists and problems say of a session hides the words of its agent, too.
#[test]
fn the_messages_of_agents_are_hidden_in_sessions_and_problems() {
    let session = |stderr: &str| json!({ "items": [{ "id": "w", "error": { "processExited": { "code": 1, "signal": null, "stderr": stderr } } }] });
    assert_eq!(hidden().value(session("GIVEN")), session(""));
    let exited = json!({ "type": "urn:problem:agent-exited", "title": "t", "status": 502, "detail": "it said GIVEN",
        "stderrTail": "GIVEN", "causes": [{ "source": "GIVEN", "reason": "GIVEN" }], "requestId": "r" });
    let title = ProblemKind::AgentExited.title();
    let shown = json!({ "type": "urn:problem:agent-exited", "title": title, "status": 502, "detail": title, "requestId": "r" });
    assert_eq!(hidden().value(exited), shown);
    // A newer daemon may report problems that this hub does not know.
    let newer = json!({ "type": "urn:problem:newer", "title": "GIVEN", "status": 502, "detail": "GIVEN", "data": { "output": "GIVEN" } });
    let shown = json!({ "type": "urn:problem:newer", "title": "An error occurred", "status": 502, "detail": "An error occurred" });
    assert_eq!(hidden().value(newer), shown);
    let ours = json!({ "type": "urn:problem:session-not-found", "title": "t", "status": 404, "detail": "session s does not exist" });
    assert_eq!(hidden().value(ours.clone()), ours);
}

/// Two policies: what either hides is hidden.
#[test]
fn policies_are_put_together() {
    let thinking = RedactionPolicy::default()
        .with(hub::Role::Viewer, HiddenContent { thinking: true, ..HiddenContent::default() });
    let output = RedactionPolicy::default()
        .with(hub::Role::Viewer, HiddenContent { tool_output: true, ..HiddenContent::default() });
    let both = CombinedPolicy::new(Arc::new(thinking), Arc::new(output));
    let who = |role| PolicySubject {
        user: "joe".parse().unwrap(),
        workspace: "lab".parse().unwrap(),
        role: Some(role),
    };
    let runtime = "box".parse().unwrap();
    assert!(matches!(both.visibility(&who(hub::Role::Owner), &runtime), Visibility::Full));
    let Visibility::Redacted(lens) = both.visibility(&who(hub::Role::Viewer), &runtime) else {
        panic!("nothing is hidden")
    };
    let Visibility::Redacted(again) = both.visibility(&who(hub::Role::Viewer), &runtime) else {
        panic!("nothing is hidden")
    };
    assert!(Arc::ptr_eq(&lens, &again), "who sees the same shares what is shown");
    let mut look = lens.redact_stream();
    for (variant, thought, given) in [(3, "THOUGHT", ""), (4, "", "GIVEN")] {
        let shown = look.event(&event(variant, "", "", thought, given)).unwrap();
        assert_eq!(shown, event(variant, "", "", "", ""));
    }
}

/// The file of a policy is taken as it is meant, or not at all.
#[test]
fn a_policy_is_written_down() {
    let read = |text: &str| serde_json::from_str::<PolicyFile>(text);
    assert!(
        read(r#"{"redact":{"viewer":{"thinking":true,"toolOutput":true,"paths":["/home/*/.ssh/**"]}}}"#)
            .is_ok()
    );
    assert!(read(r#"{"controllers":{"lab":{"env":["LANG"]}}}"#).is_ok());
    for bad in [
        r#"{"redact":{"stranger":{}}}"#,
        r#"{"redact":{"viewer":{"thinkin":true}}}"#,
        r#"{"redact":{"viewer":{"paths":["**"]}}}"#,
        r#"{"redact":{},"more":1}"#,
        r#"{"controllers":{"lab":{"environment":[]}}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
