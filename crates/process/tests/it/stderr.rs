//! The stderr tail.

use process::STDERR_TAIL_BYTES;

use crate::support::*;

/// Heavy stderr output blocks neither the child nor its stdout, and memory stays within the limit.
#[tokio::test]
async fn heavy_stderr_output_does_not_block_stdout() {
    let script = "import os\nfor i in range(50):\n os.write(2, (b'%d' % i + b'e' * 999 + b'\\n') * 1000); print(i)\n\
                  os.write(2, b'the last words\\n')";
    let before = resident_kib();
    let mut child = spawn(&python(script)).await;
    assert_eq!(all_lines(&mut child.stdout).await.len(), 50);
    let tail = child.control.stderr_tail();
    assert!(tail.ends_with("e\nthe last words"), "{tail}");
    assert!(tail.starts_with("49e") && tail.len() <= STDERR_TAIL_BYTES, "{tail}");
    println!("resident {before} KiB before 50 MB of stderr, {} KiB after", resident_kib());
}

/// acp-12: "with the stderr tail in the problem": it is complete when the exit is reported.
#[tokio::test]
async fn the_tail_is_complete_when_the_exit_is_reported() {
    for _ in 0..20 {
        let child =
            spawn(&sh("i=0; while [ $i -lt 300 ]; do echo line $i >&2; i=$((i+1)); done; exit 1")).await;
        assert_eq!(within(PATIENCE, child.control.wait()).await.code, Some(1));
        let tail = child.control.stderr_tail();
        assert!(tail.ends_with("line 298\nline 299"), "{tail}");
    }
}
