//! Properties that hold for any output of Codex, in any chunks.

use std::{fs, path::Path};

use process::{FramedLine, LineFramer};
use proptest::prelude::*;
use protocol::{Event, Transcript};
use serde_json::{Value, json};

use super::{super::adapt, hear};
use crate::{
    Fact, Heard, Order, Out, Prompt,
    altered_run::{self, AlteredRun},
    replay,
};

/// A recorded run, played with its bytes cut into pieces of these sizes, one after the other and over again.
fn played(lines: &[Value], pieces: &[usize]) -> Transcript {
    let mut adapter = adapt(&replay::options()).unwrap().adapter;
    let (mut out, mut inputs, mut framer) = (Out::default(), 0, LineFramer::new(1 << 20));
    adapter.start(&mut out);
    let mut sizes = pieces.iter().cycle();
    for run in lines.chunk_by(|one, other| one.get("hear").is_some() && other.get("hear").is_some()) {
        if run[0].get("hear").is_none() {
            replay::play(adapter.as_mut(), &run[0], &mut inputs, &mut out);
            continue;
        }
        let text = |said: &Value| said.as_str().map_or_else(|| said.to_string(), str::to_owned) + "\n";
        let bytes: String = run.iter().map(|line| text(&line["hear"])).collect();
        let mut bytes = bytes.as_bytes();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(bytes.len().min(*sizes.next().unwrap()));
            framer.space().extend_from_slice(piece);
            for piece in framer.chunk() {
                match piece {
                    FramedLine::Line(line) => adapter.hear(Heard::Line(line), &mut out),
                    other => panic!("{other:?}"),
                }
            }
            bytes = rest;
        }
    }
    let mut transcript = Transcript::default();
    for fact in &out.facts {
        if let Fact::Event(event @ (Event::Message(_) | Event::MessageDelta(_))) = fact {
            transcript.apply_event(event, jiff::Timestamp::UNIX_EPOCH);
        }
    }
    transcript
}

fn recorded() -> Vec<Vec<Value>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex");
    let mut cases: Vec<_> = fs::read_dir(directory).unwrap().map(|case| case.unwrap().path()).collect();
    cases.sort();
    cases.iter().map(|case| replay::lines(case)).collect()
}

/// A value that an app server might say, or nearly.
fn value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "t",
        "u",
        "call",
        "completed",
        "failed",
        "interrupted",
        "commandExecution",
        "fileChange",
        "mcpToolCall",
        "agentMessage",
        "reasoning",
        "plan",
        "userMessage",
        "collabAgentToolCall",
        "form",
        "array",
        "é",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "threadId",
        "turnId",
        "turn",
        "item",
        "id",
        "itemId",
        "type",
        "status",
        "text",
        "delta",
        "summary",
        "content",
        "changes",
        "kind",
        "path",
        "diff",
        "questions",
        "options",
        "error",
        "codexErrorInfo",
        "message",
        "requestId",
        "requestedSchema",
        "properties",
        "mode",
        "commandActions",
        "tokenUsage",
        "total",
        "last",
        "result",
        "thread",
    ]);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A line that an app server might say, or nearly, or anything at all.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let methods = prop::sample::select(vec![
        "item/started",
        "item/completed",
        "item/agentMessage/delta",
        "item/commandExecution/outputDelta",
        "item/reasoning/textDelta",
        "turn/started",
        "turn/completed",
        "turn/plan/updated",
        "error",
        "warning",
        "thread/tokenUsage/updated",
        "serverRequest/resolved",
        "item/commandExecution/requestApproval",
        "item/fileChange/requestApproval",
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
        "item/permissions/requestApproval",
        "mcpServer/startupStatus/updated",
        "no/such",
    ]);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        value().prop_map(|value| value.to_string().into_bytes()),
        (methods.clone(), value()).prop_map(|(method, params)| json!({ "method": method, "params": params })
            .to_string()
            .into_bytes()),
        (methods, value(), 0..3u8).prop_map(|(method, params, id)| {
            json!({ "method": method, "id": id, "params": params }).to_string().into_bytes()
        }),
        (value(), 0..9u8)
            .prop_map(|(result, id)| json!({ "id": id, "result": result }).to_string().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// sessions-11: converting a recorded run and folding it gives the same transcript however the bytes were chunked.
    #[test]
    fn a_run_is_the_same_however_its_bytes_come(
        case in prop::sample::select(recorded()), pieces in prop::collection::vec(1..400usize, 1..20),
    ) {
        prop_assert_eq!(played(&case, &pieces), played(&case, &[usize::MAX]));
    }

    /// sessions-9: nothing an agent says is dropped, whatever one field of one message holds.
    #[test]
    fn one_unexpected_value_loses_no_text(
        run in prop::sample::select(recorded()),
        at in any::<prop::sample::Index>(),
        field in any::<prop::sample::Index>(),
        value in altered_run::any_value(),
    ) {
        let altered = AlteredRun::new(&run, at, field, &value);
        let adapter = || adapt(&replay::options()).unwrap().adapter;
        altered.check_other_lines(adapter)?;
        altered.check_altered_line(adapter)?;
    }

    /// sessions-9: nothing an agent says is dropped, and nothing it says stops us.
    #[test]
    fn any_line_is_heard(lines in prop::collection::vec(line(), 1..30)) {
        let mut adapter = adapt(&replay::options()).unwrap().adapter;
        let mut out = Out::default();
        adapter.start(&mut out);
        hear(adapter.as_mut(), &json!({ "id": 1, "result": {} }), &mut out);
        hear(adapter.as_mut(), &json!({ "id": 2, "result": { "thread": { "id": "t" } } }), &mut out);
        let prompt = Prompt { id: replay::input(1), text: "go".into(), attachments: vec![] };
        adapter.tell(Order::Prompt(prompt), &mut out);
        for line in lines {
            adapter.hear(Heard::Line(&line), &mut out);
        }
        adapter.tell(Order::Interrupt, &mut out);
    }
}
