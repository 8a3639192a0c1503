//! An MCP server that is a program of this machine.

use std::{collections::VecDeque, io};

use bytes::Bytes;
use process::{FramedLine, LineProcess, ProcessControl, ProcessSpec, ProcessStdin, StdoutLines};
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tracing::{debug, warn};

/// The longest message: what is larger could not be passed on by far.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// How many lines in a row may be something else, such as a banner, before it counts as no MCP server.
const NOISE_MAX: usize = 200;

/// Speaks with a program over its stdin and stdout.
pub(crate) struct Stdio {
    stdin: ProcessStdin,
    stdout: StdoutLines,
    control: ProcessControl,
    heard: VecDeque<RxJsonRpcMessage<RoleClient>>,
    noise: usize,
}

impl Stdio {
    /// Starts the program.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(crate) async fn start(spec: &ProcessSpec) -> Result<Self, process::Error> {
        let limits = process::ProcessLimits { line_bytes_max: MESSAGE_BYTES_MAX, ..spec.limits.clone() };
        let LineProcess { stdin, stdout, control } = process::spawn(&spec.clone().limits(limits)).await?;
        Ok(Self { stdin, stdout, control, heard: VecDeque::new(), noise: 0 })
    }

    /// How the program is ended.
    pub(crate) fn control(&self) -> ProcessControl {
        self.control.clone()
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let sent = serde_json::to_vec(&message).map_err(io::Error::other).and_then(|line| {
            // A program that is a whole queue behind does not read.
            self.stdin.try_send(Bytes::from(line)).map_err(io::Error::other)
        });
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.heard.pop_front() {
                return Some(message);
            }
            if self.noise > NOISE_MAX {
                warn!("a program that is configured as an MCP server does not speak MCP");
                return None;
            }
            for piece in self.stdout.next().await? {
                match piece {
                    FramedLine::Line(line) => match serde_json::from_slice(line) {
                        Ok(message) => {
                            self.noise = 0;
                            self.heard.push_back(message);
                        }
                        Err(_) => {
                            self.noise += 1;
                            debug!(bytes = line.len(), "an MCP server wrote a line that is not a message");
                        }
                    },
                    // Whoever waits for it is told when it took too long.
                    FramedLine::TooLong { bytes } => {
                        self.noise += 1;
                        warn!(
                            bytes,
                            limit = MESSAGE_BYTES_MAX,
                            "an MCP server sent a message that is too large"
                        );
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.control.stop().await;
        Ok(())
    }
}
