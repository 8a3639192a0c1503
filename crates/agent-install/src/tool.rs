//! Running another program to its end: npm, pip, `--version`.

use std::time::Duration;

use process::{FramedLine, ProcessSpec};

use super::Fault;

/// The most of a program's output that is kept; what is asked for fits into a line.
const OUTPUT_BYTES_MAX: usize = 64 << 10;

/// What the program wrote to its standard output, if it ended well within `patience`.
pub(super) async fn run(spec: &ProcessSpec, patience: Duration) -> Result<String, Fault> {
    let program = spec.program.to_string_lossy().into_owned();
    let failed = |code, said| Fault::Tool { program: program.clone(), code, said };
    let child = process::spawn(spec).await.map_err(|error| failed(None, chain(&error)))?;
    let process::LineProcess { stdin, mut stdout, control } = child;
    drop(stdin); // it has nothing to read
    let mut output = Vec::new();
    let collect = async {
        while let Some(chunk) = stdout.next().await {
            for piece in chunk {
                if let FramedLine::Line(line) = piece
                    && output.len() + line.len() < OUTPUT_BYTES_MAX
                {
                    output.extend_from_slice(line);
                    output.push(b'\n');
                }
            }
        }
        control.wait().await
    };
    let exit = tokio::time::timeout(patience, collect).await;
    // Whoever it left behind goes too.
    control.stop().await;
    match exit {
        Ok(exit) if exit.success() => Ok(String::from_utf8_lossy(&output).into_owned()),
        Ok(exit) => Err(failed(exit.code, last_words(&control.stderr_tail(), &output))),
        Err(_) => Err(failed(None, format!("it did not finish within {} s", patience.as_secs()))),
    }
}

fn last_words(stderr: &str, stdout: &[u8]) -> String {
    let said =
        if stderr.trim().is_empty() { String::from_utf8_lossy(stdout).into_owned() } else { stderr.into() };
    said.trim().to_owned()
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}
