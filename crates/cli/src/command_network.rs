//! The option that says what commands on a device can reach.

use protocol::relay::CommandNetwork;

use crate::exit;

/// The values, for help texts.
pub(crate) const VALUES: &str = "none|proxy|host";

/// The note for users who give `full`.
const FULL_NOTE: &str = "`full` is now `proxy`: commands reach other machines through a proxy, and no service of this one; use \
                         `host` for the old meaning";

/// The network access that an option gives to commands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkOption {
    network: CommandNetwork,
    /// Whether it was given as `full`, or without a value, which used to mean `host`.
    is_old: bool,
}

impl NetworkOption {
    /// Parses the value of an option; `full` if it has none.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let option = |network| Self { network, is_old: text == "full" };
        match text {
            "none" => Ok(option(CommandNetwork::None)),
            "proxy" | "full" => Ok(option(CommandNetwork::Proxy)),
            "host" => Ok(option(CommandNetwork::Host)),
            _ => Err("expected none, proxy or host"),
        }
    }

    /// The setting. Explains an old spelling on stderr.
    pub(crate) fn network(self) -> CommandNetwork {
        if self.is_old {
            explain_full();
        }
        self.network
    }
}

/// Prints what `full` means now.
pub(crate) fn explain_full() {
    exit::say(FULL_NOTE);
}
