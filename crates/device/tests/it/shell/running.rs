//! Commands in the foreground: started, heard, spoken to.

use protocol::relay::{RelayError, RelayErrorCode};
use serde_json::{Value, json};
use testkit::within;

use super::support::{BOTH, Kind, Laptop, Next, hear, next, says, started};
use crate::support::SOON;

/// relay-76, relay-78: what a command writes comes before how it ended, and its name before both.
#[tokio::test]
async fn a_command_runs_and_is_heard() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let heard = laptop.line("echo out; echo err >&2; exit 3").await;
        assert_eq!((heard.stdout().as_str(), heard.stderr().as_str()), ("out\n", "err\n"), "{kind:?}");
        let ended = heard.outcome.as_ref().unwrap();
        assert_eq!(ended["exit_code"], 3);
        assert!(ended["duration_ms"].is_u64() && ended["signal"].is_null() && ended["truncated"].is_null());
        assert_eq!(ended["command_id"].as_str(), heard.id.as_deref());
        assert_eq!((&ended["bytes_seen"], &ended["bytes_sent"]), (&json!(8), &json!(8)));
    }
}

/// relay-76: a program with its arguments is not read by a shell.
#[tokio::test]
async fn a_program_gets_its_arguments_as_they_are() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let heard = laptop.run(json!({ "argv": ["printf", "%s|", "a b", "$HOME", "*", ""] })).await;
        assert_eq!(heard.stdout(), "a b|$HOME|*||", "{kind:?}");
    }
}

/// relay-43, relay-76: a program that is not there is told, without saying where it was looked for.
#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let error = laptop.run(json!({ "argv": ["no-such-program"] })).await.error();
        assert_eq!(
            (error.code, error.details["reason"].as_str()),
            (RelayErrorCode::NotFound, Some("program")),
            "{kind:?}"
        );
        let error = laptop.run(json!({ "argv": ["/etc/passwd"] })).await.error();
        assert_eq!(error.code, RelayErrorCode::PermissionDenied, "{kind:?}");
    }
}

/// relay-41, relay-77
#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let laptop = Laptop::new(Kind::Local).await;
    let wrong = [
        json!({}),
        json!({ "command": "true", "argv": ["true"] }),
        json!({ "argv": [] }),
        json!({ "argv": [""] }),
        json!({ "argv": ["a\u{0}b"] }),
        json!({ "command": "a\u{0}b" }),
        json!({ "command": "true", "pty": { "cols": 0, "rows": 24 } }),
        json!({ "command": "true", "cwd": "workspace/main" }),
        json!({ "command": "true", "cwd": "/workspace/main/.." }),
        json!({ "command": "true", "cwd": "/workspace/main/\u{0}" }),
    ];
    for params in wrong {
        assert_eq!(laptop.run(params.clone()).await.error().code, RelayErrorCode::InvalidRequest, "{params}");
    }
    let id = laptop.background("cat").await;
    for signal in [json!("SIGNAL"), json!(0), json!(-1), json!(1000)] {
        let error =
            laptop.ask("shell.signal", json!({ "command_id": id, "signal": signal })).await.unwrap_err();
        assert_eq!(error.code, RelayErrorCode::InvalidRequest, "{signal}");
    }
    let resize = laptop.ask("shell.resize", json!({ "command_id": id, "cols": 10, "rows": 10 })).await;
    assert_eq!(resize.unwrap_err().code, RelayErrorCode::InvalidRequest, "it has no terminal");
    let input = json!({ "command_id": id, "data": "&&&", "encoding": "base64" });
    assert_eq!(laptop.ask("shell.input", input).await.unwrap_err().code, RelayErrorCode::InvalidRequest);
}

/// relay-82
#[tokio::test]
async fn a_command_leaves_nothing_to_the_next() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        std::fs::create_dir(laptop.path("main/sub")).unwrap();
        let heard = laptop.line("cd sub; export A=1; alias b=true; umask 077; pwd; echo $A").await;
        let (first, second) =
            (heard.stdout(), laptop.line("pwd; echo \"<$A>\"; alias; umask").await.stdout());
        assert!(first.ends_with("/main/sub\n1\n"), "{first}");
        assert!(second.contains("/main\n<>\n") && second.ends_with("0022\n"), "{kind:?} {second}");
    }
}

/// relay-77, relay-79
#[tokio::test]
async fn a_command_is_written_to_until_the_end() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let mut call = laptop.start(json!({ "command": "cat" })).await;
        let id = started(&mut call).await;
        laptop.input(&id, "one ", false).await.unwrap();
        says(&mut call, "one ").await;
        let binary = json!({ "command_id": id, "data": "AP8=", "encoding": "base64" });
        laptop.ask("shell.input", binary).await.unwrap();
        laptop.input(&id, "two", true).await.unwrap();
        let refused = laptop.input(&id, "three", false).await.unwrap_err();
        let reason = refused.details["reason"].as_str();
        assert!(
            refused.code == RelayErrorCode::NotFound && matches!(reason, Some("stdin_closed" | "ended")),
            "{refused:?}"
        );
        let heard = hear(call).await;
        let bytes: Vec<u8> = heard.pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!((heard.code(), bytes.as_slice()), (0, &b"\0\xfftwo"[..]), "{kind:?}");
    }
}

/// relay-79
#[tokio::test]
async fn input_that_nobody_can_read_is_told() {
    let laptop = Laptop::new(Kind::Local).await;
    let mut call = laptop.start(json!({ "command": "exec 0<&-; echo closed; sleep 60" })).await;
    let id = started(&mut call).await;
    says(&mut call, "closed").await;
    // The first finds out, the next is told.
    let refused = within(SOON, async {
        loop {
            if let Err(error) = laptop.input(&id, "x", false).await {
                return error;
            }
        }
    })
    .await;
    assert_eq!(
        (refused.code, refused.details["reason"].as_str()),
        (RelayErrorCode::NotFound, Some("stdin_closed"))
    );
}

/// relay-80
#[tokio::test]
async fn a_terminal_is_one_stream_and_can_be_resized() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let line = "test -t 0 && test -t 1 && test -t 2 && echo terminal $TERM; stty size; echo err >&2; read line; \
                    stty size; echo got $line";
        let mut call = laptop.start(json!({ "command": line, "pty": { "cols": 80, "rows": 24 } })).await;
        let id = started(&mut call).await;
        let said = says(&mut call, "err\r\n").await;
        assert_eq!(said, "terminal xterm-256color\r\n24 80\r\nerr\r\n", "{kind:?}");
        laptop.ask("shell.resize", json!({ "command_id": id, "cols": 100, "rows": 30 })).await.unwrap();
        laptop.input(&id, "hello\n", false).await.unwrap();
        let heard = hear(call).await;
        assert_eq!(
            (heard.code(), heard.stdout().as_str()),
            (0, "hello\r\n30 100\r\ngot hello\r\n"),
            "{kind:?}"
        );
        assert!(heard.pieces.iter().all(|(event, _)| event == "stdout"));
    }
}

/// relay-79, relay-80
#[tokio::test]
async fn the_end_of_input_is_typed_on_a_terminal() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let mut call =
            laptop.start(json!({ "command": "cat; echo over", "pty": { "cols": 80, "rows": 24 } })).await;
        let id = started(&mut call).await;
        laptop.input(&id, "x\n", true).await.unwrap();
        assert!(hear(call).await.stdout().ends_with("x\r\nover\r\n"), "{kind:?}");
    }
}

/// relay-77, relay-80: what is typed reaches who has the terminal, as a signal.
#[tokio::test]
async fn an_interrupt_is_typed_on_a_terminal() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let params = json!({ "command": "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 1; done",
            "pty": { "cols": 80, "rows": 24 } });
        let mut call = laptop.start(params).await;
        let id = started(&mut call).await;
        says(&mut call, "ready").await;
        laptop.input(&id, "\u{3}", false).await.unwrap();
        let heard = hear(call).await;
        assert_eq!(heard.code(), 5, "{kind:?}");
        assert!(heard.stdout().contains("caught"));
    }
}

/// relay-77, relay-81, relay-164
#[tokio::test]
async fn signals_reach_the_command() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let line = "trap 'echo usr' USR1; echo ready; while :; do sleep 0.05; done";
        let mut call = laptop.start(json!({ "command": line })).await;
        let id = started(&mut call).await;
        says(&mut call, "ready").await;
        for signal in [json!("SIGUSR1"), json!("USR1"), json!(10)] {
            laptop.ask("shell.signal", json!({ "command_id": id, "signal": signal })).await.unwrap();
            says(&mut call, "usr").await;
        }
        laptop.ask("shell.signal", json!({ "command_id": id, "signal": "TERM" })).await.unwrap();
        let heard = hear(call).await;
        let ended = heard.outcome.unwrap();
        assert_eq!((&ended["exit_code"], &ended["signal"]), (&json!(143), &json!("SIGTERM")), "{kind:?}");
        let refused =
            laptop.ask("shell.signal", json!({ "command_id": id, "signal": "TERM" })).await.unwrap_err();
        assert_eq!(
            (refused.code, refused.details["reason"].as_str()),
            (RelayErrorCode::NotFound, Some("ended"))
        );
    }
}

/// relay-81: who returns 143 was not killed, and who was killed says by what.
#[tokio::test]
async fn a_signal_is_told_from_a_number() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let returned = laptop.line("exit 143").await.outcome.unwrap();
        assert_eq!((&returned["exit_code"], &returned["signal"]), (&json!(143), &Value::Null), "{kind:?}");
        let killed = laptop.line("kill -KILL $$").await.outcome.unwrap();
        assert_eq!((&killed["exit_code"], &killed["signal"]), (&json!(137), &json!("SIGKILL")), "{kind:?}");
    }
}

/// relay-48: characters that are cut by how they are written or read are put together again.
#[tokio::test]
async fn characters_are_never_cut() {
    for kind in BOTH {
        let laptop = Laptop::new(kind).await;
        let line =
            r"printf '\346'; sleep 0.1; printf '\274\242'; printf '\303' >&2; sleep 0.05; printf '\237' >&2";
        let heard = laptop.line(line).await;
        assert_eq!((heard.stdout().as_str(), heard.stderr().as_str()), ("漢", "ß"), "{kind:?}");
        assert!(heard.pieces.iter().all(|(_, bytes)| std::str::from_utf8(bytes).is_ok()));
        // An odd number of bytes first, so that every read ends within a character.
        let heard = laptop.line("printf x; yes 漢漢漢漢 | head -c 1300000 | tr -d '\\n'").await;
        assert!(heard.pieces.iter().all(|(_, bytes)| std::str::from_utf8(bytes).is_ok()), "{kind:?}");
        assert!(heard.stdout().trim_end_matches('\u{6f22}').starts_with('x'));
    }
}

/// relay-48
#[tokio::test]
async fn what_is_no_text_arrives_as_it_is() {
    let laptop = Laptop::new(Kind::Local).await;
    let heard = laptop.line(r"head -c 300000 /dev/urandom | tee copy; printf '\346'").await;
    let bytes: Vec<u8> = heard.pieces.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
    let mut expected = std::fs::read(laptop.path("main/copy")).unwrap();
    expected.push(0xe6);
    assert!(bytes == expected);
}

/// relay-78
#[tokio::test]
async fn a_command_is_known_to_its_session_only() {
    let laptop = Laptop::new(Kind::Local).await;
    let context = |session: Option<&str>| protocol::relay::RelayContext {
        session_id: session.map(Into::into),
        ..Default::default()
    };
    let params = protocol::relay::RawJson::from_value(&json!({ "command": "cat", "background": true }));
    let outcome = laptop.lent.call("shell.start", params, Some(context(Some("one")))).await.outcome().await;
    let ended: Value = outcome.unwrap().read().unwrap();
    let ask = protocol::relay::RawJson::from_value(&json!({ "command_id": ended["command_id"] }));
    let status = async |session| -> Result<Value, RelayError> {
        let call = laptop.lent.call("shell.status", ask.clone(), Some(context(session))).await;
        call.outcome().await.map(|json| json.read().unwrap())
    };
    assert_eq!(status(Some("one")).await.unwrap()["state"], "running");
    assert_eq!(status(Some("two")).await.unwrap_err().code, RelayErrorCode::NotFound);
    assert_eq!(status(None).await.unwrap_err().code, RelayErrorCode::NotFound);
}

/// relay-8, relay-48: a message that would be too large becomes several.
#[tokio::test]
async fn output_fits_in_messages() {
    let limits = relay::Limits { frame_bytes_max: 2000, ..relay::Limits::default() };
    let home = tempfile::tempdir().unwrap();
    let shell = super::support::open(home.path(), super::support::config(Kind::Local)).await;
    let device = device::Device::new(vec![Box::new(shell)], device::Consent::default());
    let lent = crate::support::Lent::connect_with(device, limits).await;
    let params =
        protocol::relay::RawJson::from_value(&json!({ "command": "yes '漢\u{1}' | head -c 100000" }));
    let heard = hear(lent.call("shell.start", params, None).await).await;
    assert_eq!(heard.stdout(), "漢\u{1}\n".repeat(20_000));
}

/// relay-45, relay-164: what is written to the same stream arrives in order.
#[tokio::test]
async fn output_arrives_in_order() {
    let laptop = Laptop::new(Kind::Sandboxed).await;
    let mut call = laptop.start(json!({ "command": "seq 1 200000" })).await;
    let mut said = String::new();
    loop {
        match next(&mut call).await {
            Next::Started(_) => {}
            Next::Piece(_, bytes) => said.push_str(std::str::from_utf8(&bytes).unwrap()),
            Next::Outcome(outcome) => break assert_eq!(outcome.unwrap()["exit_code"], 0),
        }
    }
    assert!(said.lines().map(|line| line.parse::<u32>().unwrap()).eq(1..=200_000));
}
