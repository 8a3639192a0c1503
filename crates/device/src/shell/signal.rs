//! Signals by their names.

use process::Signal;
use protocol::relay::shell;

/// Those that can be sent, with their names.
const SIGNALS: [(&str, Signal); 26] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("ILL", Signal::ILL),
    ("TRAP", Signal::TRAP),
    ("ABRT", Signal::ABORT),
    ("BUS", Signal::BUS),
    ("FPE", Signal::FPE),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("SEGV", Signal::SEGV),
    ("USR2", Signal::USR2),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("CHLD", Signal::CHILD),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("TTIN", Signal::TTIN),
    ("TTOU", Signal::TTOU),
    ("XCPU", Signal::XCPU),
    ("XFSZ", Signal::XFSZ),
    ("VTALRM", Signal::VTALARM),
    ("WINCH", Signal::WINCH),
    ("SYS", Signal::SYS),
];

/// The signal that is meant; none if there is no such.
pub(super) fn find(signal: &shell::Signal) -> Option<Signal> {
    let fits = |(name, known): &&(&str, Signal)| match signal {
        shell::Signal::Number(number) => known.as_raw() == *number,
        shell::Signal::Name(_) => signal.known_name() == Some(*name),
    };
    SIGNALS.iter().find(fits).map(|(_, known)| *known)
}

/// How a signal is told: by its name if it has one.
pub(super) fn told(number: i32) -> shell::Signal {
    match SIGNALS.iter().find(|(_, known)| known.as_raw() == number) {
        Some((name, _)) => shell::Signal::Name(format!("SIG{name}")),
        None => shell::Signal::Number(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        let name = |name: &str| find(&shell::Signal::Name(name.into()));
        assert_eq!(name("SIGTERM"), Some(Signal::TERM));
        assert!(SIGNALS.iter().all(|(known, signal)| name(known) == Some(*signal)));
        assert_eq!(name("int"), Some(Signal::INT));
        assert_eq!(name("SIGNAL"), None);
        assert_eq!(name(""), None);
        assert_eq!(find(&shell::Signal::Number(9)), Some(Signal::KILL));
        assert_eq!(find(&shell::Signal::Number(0)), None);
        assert_eq!(find(&shell::Signal::Number(-9)), None);
        assert_eq!(told(15), shell::Signal::Name("SIGTERM".into()));
        assert_eq!(told(40), shell::Signal::Number(40));
    }
}
