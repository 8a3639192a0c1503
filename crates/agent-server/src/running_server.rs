//! The process of a server that has started.

use std::{future, time::Duration};

use process::{FramedLine, LineProcess, ProcessControl, ProcessSpec, StdoutLines};
use reqwest::Response;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;
use uuid::Uuid;

use crate::{Error, ServerClient};

/// The time limit until a server prints its address. A cold start of a large program on a busy machine takes a while.
const READY_MAX: Duration = Duration::from_secs(60);

/// The words before the address in the server's output.
const LISTENING: &str = "listening on ";

/// The variable with the password of a server.
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// The process of a server that has started. Dropping it kills the process.
pub(crate) struct RunningServer {
    pub(crate) stdout: StdoutLines,
    pub(crate) control: ProcessControl,
    pub(crate) client: ServerClient,
    pub(crate) events: Response,
}

impl RunningServer {
    /// Starts the process, waits for its address and opens its event stream.
    pub(crate) async fn start(spec: ProcessSpec) -> Result<Self, Error> {
        let password = SecretString::from(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()));
        let LineProcess { stdin, mut stdout, control } =
            process::spawn(&spec.env(PASSWORD, password.expose_secret())).await?;
        drop(stdin);
        let address = match timeout(READY_MAX, read_address(&mut stdout)).await {
            Ok(Some(address)) => address,
            Ok(None) => {
                let exit = control.stop().await;
                return Err(Error::Exited { exit, stderr: control.stderr_tail() });
            }
            Err(_) => {
                control.stop().await;
                return Err(Error::Silent { waited: READY_MAX, stderr: control.stderr_tail() });
            }
        };
        let client = ServerClient::new(address, password).map_err(Error::Stream)?;
        let events = client.events().await.map_err(Error::Stream)?;
        Ok(Self { stdout, control, client, events })
    }
}

/// Reads further output of the server, which would block if the pipe filled up.
pub(crate) async fn next_output(stdout: &mut StdoutLines) -> String {
    match stdout.next().await {
        Some(lines) => {
            let texts = lines.map(|line| match line {
                FramedLine::Line(line) => String::from_utf8_lossy(line).into_owned(),
                FramedLine::TooLong { bytes } => format!("a line of {bytes} bytes"),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        // The process reports its own exit.
        None => future::pending().await,
    }
}

/// Reads the server's address; `None` if the output ends without it.
async fn read_address(stdout: &mut StdoutLines) -> Option<String> {
    while let Some(lines) = stdout.next().await {
        for line in lines {
            let FramedLine::Line(line) = line else { continue };
            let line = String::from_utf8_lossy(line);
            if let Some((_, address)) = line.split_once(LISTENING) {
                return Some(address.trim().trim_end_matches('/').to_owned());
            }
        }
    }
    None
}
