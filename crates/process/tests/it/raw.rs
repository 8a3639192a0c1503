//! Output as bytes.

use process::{ChildStream, ProcessLimits, spawn_raw};

use crate::support::*;

/// daemon-13: logs of both streams, in the order of their writing as far as it can be known.
#[tokio::test]
async fn both_streams_are_returned_as_written() {
    let mut child = spawn_raw(&sh("while read word; do echo out $word; printf 'err\\0%s' $word >&2; done"))
        .await
        .unwrap();
    for word in ["one", "two"] {
        child.stdin.try_send(format!("{word}\n").into()).unwrap();
        let mut both =
            [within(PATIENCE, child.outputs.next()).await, within(PATIENCE, child.outputs.next()).await]
                .map(|output| output.map(|output| (output.stream, output.bytes)).unwrap());
        both.sort_by_key(|(stream, _)| *stream == ChildStream::Stderr);
        assert_eq!(both[0], (ChildStream::Stdout, format!("out {word}\n").into()));
        assert_eq!(both[1], (ChildStream::Stderr, format!("err\0{word}").into()));
    }
    child.stdin.close();
    assert_eq!(within(PATIENCE, child.outputs.next()).await, None);
    assert_eq!(child.control.exit().unwrap().code, Some(0));
    assert_eq!(child.control.stderr_tail(), "err\0oneerr\0two");
}

/// daemon-13: the child blocks while the reader does not read, and no output is lost.
#[tokio::test]
async fn a_child_blocks_on_a_slow_reader() {
    let script = "import os\nfor i in range(1000): os.write(1 + i % 2, b'x' * 4096)\nos.write(1, b'end')";
    let limits = ProcessLimits { stderr_bytes_max: 10, ..ProcessLimits::default() };
    let mut child = spawn_raw(&python(script).limits(limits)).await.unwrap();
    let early = tokio::time::timeout(std::time::Duration::from_millis(300), child.control.wait()).await;
    assert!(early.is_err(), "4 MB were read ahead");
    let mut bytes = 0;
    while let Some(output) = within(PATIENCE, child.outputs.next()).await {
        bytes += output.bytes.len();
    }
    assert_eq!(bytes, 1000 * 4096 + 3);
}
