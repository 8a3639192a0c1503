//! What passes through, and how.

use testkit::{TestDaemon, TestDaemonOptions};

use super::*;

#[tokio::test]
async fn an_editor_holds_a_conversation() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock"]);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["result"]["agentInfo"]["name"], "mock");
    editor.say(&prompt(2, "hello\n/permission")).await;
    assert_eq!(editor.hear().await["params"]["update"]["content"]["text"], "hello");
    let asked = editor.hear().await;
    assert_eq!(asked["method"], "session/request_permission");
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
    editor.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    let done = editor.hear().await["params"]["update"].take();
    assert_eq!((&done["sessionUpdate"], &done["status"]), (&json!("tool_call_update"), &json!("completed")));
    assert_eq!(editor.hear().await["params"]["update"]["content"]["text"], "permission answered: allow");
    // acp-10a: the response comes on the stream, after everything that was said before it.
    assert_eq!(
        editor.hear().await,
        json!({ "jsonrpc": "2.0", "id": 2, "result": { "stopReason": "end_turn" } })
    );
    editor.say(&prompt(3, "/hang")).await;
    editor
        .say(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "s" } }))
        .await;
    assert_eq!(editor.hear().await["result"]["stopReason"], "cancelled");
    let ended = editor.leave().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(ended.stdout.is_empty());
}

/// acp-7: bytes pass unchanged, whatever they say.
#[tokio::test]
async fn bytes_pass_unchanged_in_both_directions() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "cat"]);
    let large = format!(r#"{{"jsonrpc":"2.0","method":"large","params":"{}"}}"#, "ü".repeat(1 << 20));
    for line in [
        r#"{"jsonrpc":"2.0","method":"m","params":{"z":1,"a":1.0e2,"_meta":{"x":[ ]}},"unknown":"\u00fc ü"}"#,
        r#" { "method" : "_sandboxagent/x" , "jsonrpc" : "2.0" } "#,
        &large,
        r#"{"jsonrpc":"2.0","id":"\"","result":null}"#,
    ] {
        editor.say_line(line).await;
        assert_eq!(editor.hear_line().await, line);
    }
    assert_eq!(editor.leave().await.code, Some(0));
}

/// A line that is no message is answered, and what comes after it goes on.
#[tokio::test]
async fn a_wrong_message_is_answered_and_ends_nothing() {
    let daemon = TestDaemon::start(TOMBOLO);
    let mut editor = Editor::start(daemon.base(), &["--agent", "mock"]);
    editor.say_line("not a message").await;
    let answer = editor.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)));
    // A batch, and an id that is null, are JSON but no message: an invalid request.
    for line in [r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#]
    {
        editor.say_line(line).await;
        let answer = editor.hear().await;
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{line}");
    }
    editor.say(&prompt(7, "/hang")).await;
    // acp-9: the id is still in flight.
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["id"], 1);
    editor.say(&prompt(7, "again")).await;
    let answer = editor.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    assert_eq!(editor.leave().await.code, Some(0));
}

#[tokio::test]
async fn the_agent_runs_where_it_is_told_to() {
    let daemon = TestDaemonOptions::default()
        .agent("where", &["python3", "-uc", "import os,sys,json\nfor l in sys.stdin: print(json.dumps({'jsonrpc':'2.0','method':'cwd','params':os.getcwd()}))"])
        .start(TOMBOLO);
    let directory = daemon.home().join("project");
    std::fs::create_dir(&directory).unwrap();
    let directory = directory.to_str().unwrap();
    let mut editor = Editor::start(daemon.base(), &["--agent", "where", "--directory", directory]);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["params"], directory);
}

/// A key is passed on from the environment of the editor, so that it need not be in arguments, which all users can see.
#[tokio::test]
async fn the_agent_gets_variables() {
    let daemon = TestDaemonOptions::default()
        .agent("named", &["python3", "-uc", "import os,sys,json\nfor l in sys.stdin: print(json.dumps({'jsonrpc':'2.0','method':'env','params':[os.environ['SAID'], os.environ['PASSED'], sys.argv]}))"])
        .start(TOMBOLO);
    let arguments = ["--agent", "named", "--env", "SAID=a=b", "--env", "PASSED"];
    let mut command = acp(daemon.base(), &arguments);
    command.env("PASSED", "sk-hush");
    let mut editor = Editor::of(command);
    editor.say(&initialize()).await;
    assert_eq!(editor.hear().await["params"], json!(["a=b", "sk-hush", ["-c"]]));
    let listed = instances(&daemon).await;
    assert!(!json!(listed).to_string().contains("sk-hush"), "{listed:?}");
}

#[tokio::test]
async fn a_variable_that_is_not_set_cannot_be_passed_on() {
    let mut command = acp("http://127.0.0.1:9", &["--agent", "mock", "--env", "TOMBOLO_TEST_UNSET"]);
    command.env_remove("TOMBOLO_TEST_UNSET");
    let ended = Editor::of(command).ended().await;
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("TOMBOLO_TEST_UNSET is not set here: set it, or write"),
        "{}",
        ended.stderr
    );
}

/// The editor that does not read its agent stops nobody from being heard, and the queue of what it says is bounded:
/// standard input is not read while it is full.
#[tokio::test]
async fn input_is_not_read_while_the_network_is_down() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", nobody.local_addr().unwrap());
    // It takes connections and never answers.
    let mut editor = Editor::start(&endpoint, &["--agent", "mock"]);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{}"}}"#, "x".repeat(8 << 20));
    let mut taken = 0;
    let flood = async {
        loop {
            editor.say_line(&line).await;
            taken += 1;
        }
    };
    let _: Result<(), _> = tokio::time::timeout(secs(5), flood).await;
    // 64 MiB wait in the queue, one line is in hand, and the pipe holds a little.
    assert!((1..=10).contains(&taken), "{taken} lines of 8 MiB");
}
