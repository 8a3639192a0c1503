//! What an environment has.

use protocol::relay::Family;
use relay::environment::{FileOperator, ResourceRegistry, Shell, Span, Toolset};

use super::{device::lend, mapping::command};
use crate::support::within;

/// relay-109, relay-115: files, commands, tools and resources, each of which is asked of the device by requests; all of it in one
/// process, without a network.
#[tokio::test]
async fn every_part_is_asked_of_the_device() {
    let lent = lend(&[Family::Fileops, Family::Shell, Family::Tools, Family::Resources]).await;
    lent.memory.put("main/a", "text");
    let environment = &lent.environment;
    assert_eq!(within(environment.files().read_text("a", Span::default())).await.unwrap(), "text");
    assert_eq!(within(environment.shell().run(command("echo"), 100)).await.unwrap().stdout, b"hello\n");
    assert_eq!(within(environment.tools().list()).await.unwrap(), []);
    assert_eq!(within(environment.resources().list(None)).await.unwrap(), []);
    assert_eq!(lent.memory.methods(), ["file.read", "shell.start", "tool.list", "resource.list"]);
}
