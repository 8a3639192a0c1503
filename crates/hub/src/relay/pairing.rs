//! Devices that want to be let in: each shows its owner a short code, which somebody confirms here.

use std::{net::IpAddr, sync::Arc, time::Duration};

use hub_access::{NewToken, token_digest};
use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::lending::{PairedDevice, PairingStarted, PendingPairing, StartPairingRequest};
use rustix::rand::{GetRandomFlags, getrandom};
use secrecy::ExposeSecret;

/// What a secret begins with that a device asks with.
const CLAIM_PREFIX: &str = "tombolo_pair_";

/// How long a code is good.
const AGE: Duration = Duration::from_secs(10 * 60);

/// How long a device waits before it asks again.
const POLL: Duration = Duration::from_secs(2);

/// After how long without asking a device is taken to be gone. It asks every [`POLL`].
const SILENT_MAX: Duration = Duration::from_secs(15);

/// How many devices may wait at a time, all together and from one address.
const WAITING_MAX: usize = 1000;
const WAITING_OF_ADDRESS_MAX: usize = 20;

/// The letters of a code: none looks like another, or like a digit. Eight of them are 40 bits: with so few attempts as one
/// who is let in has, and so few codes at a time, nobody finds one by chance.
const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LETTERS: usize = 8;

/// The devices that want to be let in. They are not written down: a hub that ends forgets them. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Pairings(Arc<Mutex<Vec<Waiting>>>);

struct Waiting {
    request: PendingPairing,
    digest: String,
    state: State,
    /// When the device began, or last asked.
    heard_at: Timestamp,
}

enum State {
    /// Nobody has said anything.
    Waiting,
    /// Somebody lets it in, which takes a moment.
    Confirming,
    /// It is let in, and asks for this once.
    Confirmed(Box<PairedDevice>),
    /// It is not let in.
    Refused,
}

/// What a device is told that asks.
pub(crate) enum Claim {
    Waiting,
    Confirmed(Box<PairedDevice>),
    Refused,
    Expired,
    /// It never began, or has been told already.
    Unknown,
}

/// Why a device cannot wait.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("too many devices are waiting to be paired; try again later")]
    Full,
    #[error("label and version are limited to 256 bytes each, and the device's offer to 16 KiB")]
    TooLong,
    #[error("could not generate a secret")]
    Secret(#[source] std::io::Error),
}

/// How long the texts of a device may be, and all that it says it would lend.
const TEXT_BYTES_MAX: usize = 256;
const OFFER_BYTES_MAX: usize = 16 << 10;

impl Pairings {
    /// A device wants to be let in.
    pub(crate) fn begin(
        &self,
        begin: StartPairingRequest,
        peer: Option<IpAddr>,
    ) -> Result<PairingStarted, Error> {
        let StartPairingRequest { client_id, label, client_version, capabilities } = begin;
        let texts = label.iter().chain(&client_version);
        let offer = serde_json::to_vec(&capabilities).map_or(usize::MAX, |bytes| bytes.len());
        if texts.into_iter().any(|text| text.len() > TEXT_BYTES_MAX) || offer > OFFER_BYTES_MAX {
            return Err(Error::TooLong);
        }
        let secret = NewToken::mint(CLAIM_PREFIX).map_err(Error::Secret)?;
        let (now, mut all) = (Timestamp::now(), self.0.lock());
        // One that has expired is told so for a while.
        all.retain(|waiting| waiting.request.expires_at + AGE > now);
        let is_full = |all: &[Waiting]| {
            let of_address = all.iter().filter(|waiting| waiting.request.peer == peer).count();
            all.len() >= WAITING_MAX || of_address >= WAITING_OF_ADDRESS_MAX
        };
        if is_full(&all) {
            // Requests that nobody asks about again must not keep devices out: anybody can send those.
            all.retain(|waiting| !waiting.is_silent(now));
        }
        if is_full(&all) {
            return Err(Error::Full);
        }
        let code = loop {
            let code = code().map_err(Error::Secret)?;
            if !all.iter().any(|waiting| waiting.request.code == code) {
                break code;
            }
        };
        let (created_at, expires_at) = (now, now + AGE);
        let request = PendingPairing {
            code: code.clone(),
            client_id,
            label,
            client_version,
            capabilities,
            peer,
            created_at,
            expires_at,
        };
        all.push(Waiting { request, digest: secret.digest(), state: State::Waiting, heard_at: now });
        let claim_secret = secret.expose_secret().to_owned();
        Ok(PairingStarted {
            code,
            claim_secret,
            expires_at,
            poll_interval_ms: u64::try_from(POLL.as_millis()).unwrap_or(0),
        })
    }

    /// Every device that waits, the oldest first.
    pub(crate) fn list(&self) -> Vec<PendingPairing> {
        let now = Timestamp::now();
        let all = self.0.lock();
        all.iter().filter(|waiting| waiting.waits(now)).map(|waiting| waiting.request.clone()).collect()
    }

    /// The device that shows this code.
    pub(crate) fn look(&self, code: &str) -> Option<PendingPairing> {
        let (code, now) = (spelled(code), Timestamp::now());
        let all = self.0.lock();
        let waiting = all.iter().find(|waiting| waiting.request.code == code && waiting.waits(now))?;
        Some(waiting.request.clone())
    }

    /// Lets the device in that shows this code, if `paired` makes that so; it is told when it asks.
    pub(crate) fn confirm<T, E>(
        &self,
        code: &str,
        paired: impl FnOnce(&PendingPairing) -> Result<(PairedDevice, T), E>,
    ) -> Option<Result<T, E>> {
        let (code, now) = (spelled(code), Timestamp::now());
        let request = {
            let mut all = self.0.lock();
            let waiting =
                all.iter_mut().find(|waiting| waiting.request.code == code && waiting.waits(now))?;
            waiting.state = State::Confirming;
            waiting.request.clone()
        };
        // Nobody waits for the others meanwhile.
        let (state, made) = match paired(&request) {
            Ok((device, more)) => (State::Confirmed(Box::new(device)), Ok(more)),
            Err(error) => (State::Waiting, Err(error)),
        };
        let mut all = self.0.lock();
        if let Some(waiting) = all.iter_mut().find(|waiting| waiting.request.code == code) {
            waiting.state = state;
        }
        Some(made)
    }

    /// Does not let it in; whether it waited.
    pub(crate) fn refuse(&self, code: &str) -> bool {
        let (code, now) = (spelled(code), Timestamp::now());
        let mut all = self.0.lock();
        let waiting = all.iter_mut().find(|waiting| waiting.request.code == code && waiting.waits(now));
        waiting.map(|waiting| waiting.state = State::Refused).is_some()
    }

    /// Whether the device with this secret is let in. What it connects with is told once.
    pub(crate) fn claim(&self, secret: &str) -> Claim {
        let (digest, now) = (token_digest(secret), Timestamp::now());
        let mut all = self.0.lock();
        let Some(at) = all.iter().position(|waiting| waiting.digest == digest) else { return Claim::Unknown };
        all[at].heard_at = now;
        match all[at].state {
            State::Waiting if all[at].request.expires_at <= now => return Claim::Expired,
            State::Waiting | State::Confirming => return Claim::Waiting,
            State::Confirmed(_) | State::Refused => {}
        }
        match all.remove(at).state {
            State::Confirmed(device) => Claim::Confirmed(device),
            State::Refused | State::Waiting | State::Confirming => Claim::Refused,
        }
    }
}

impl Waiting {
    fn waits(&self, now: Timestamp) -> bool {
        matches!(self.state, State::Waiting) && self.request.expires_at > now
    }

    /// Whether the device seems to be gone. One that is being let in is not.
    fn is_silent(&self, now: Timestamp) -> bool {
        !matches!(self.state, State::Confirming) && self.heard_at + SILENT_MAX <= now
    }
}

/// A new code, such as `KXQM-3F7P`.
fn code() -> std::io::Result<String> {
    let mut bytes = [0; CODE_LETTERS];
    // So few bytes are given at once or not at all.
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    let letters = bytes.map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
    let (first, second) = letters.split_at(CODE_LETTERS / 2);
    Ok(format!("{}-{}", first.iter().collect::<String>(), second.iter().collect::<String>()))
}

/// A code as we spell it, however somebody has typed it.
fn spelled(code: &str) -> String {
    let letters: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(CODE_LETTERS + 1)
        .collect::<String>()
        .to_uppercase();
    match letters.len() == CODE_LETTERS {
        true => format!("{}-{}", &letters[..CODE_LETTERS / 2], &letters[CODE_LETTERS / 2..]),
        false => letters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(pairings: &Pairings, peer: u8) -> Result<PairingStarted, Error> {
        let begin: StartPairingRequest = serde_json::from_str(r#"{ "clientId": "laptop" }"#).unwrap();
        pairings.begin(begin, Some(IpAddr::from([10, 0, 0, peer])))
    }

    #[test]
    fn a_code_is_found_however_it_is_typed_and_has_no_look_alikes() {
        let pairings = Pairings::default();
        let pairing = begin(&pairings, 1).unwrap();
        assert!(pairing.code.bytes().all(|byte| byte == b'-' || LETTERS.contains(&byte)), "{}", pairing.code);
        for typed in [pairing.code.clone(), pairing.code.to_lowercase(), pairing.code.replace('-', " ")] {
            assert_eq!(pairings.look(&typed).unwrap().code, pairing.code);
        }
        assert!(pairings.look("AAAA-AAAA").is_none() && pairings.look("").is_none());
    }

    #[test]
    fn only_so_many_wait_from_one_address() {
        let pairings = Pairings::default();
        for _ in 0..WAITING_OF_ADDRESS_MAX {
            begin(&pairings, 1).unwrap();
        }
        assert!(matches!(begin(&pairings, 1), Err(Error::Full)));
        begin(&pairings, 2).unwrap();
    }

    #[test]
    fn requests_that_nobody_asks_about_make_room_for_a_device_that_does() {
        let pairings = Pairings::default();
        let device = begin(&pairings, 1).unwrap();
        for _ in 1..WAITING_OF_ADDRESS_MAX {
            begin(&pairings, 1).unwrap();
        }
        for waiting in pairings.0.lock().iter_mut() {
            waiting.heard_at = Timestamp::now() - SILENT_MAX;
        }
        assert!(matches!(pairings.claim(&device.claim_secret), Claim::Waiting));
        begin(&pairings, 1).unwrap();
        assert_eq!(pairings.list().len(), 2);
        assert!(matches!(pairings.claim(&device.claim_secret), Claim::Waiting));
    }

    #[test]
    fn a_device_is_told_once_what_it_connects_with() {
        let pairings = Pairings::default();
        let [first, second] = [1, 2].map(|peer| begin(&pairings, peer).unwrap());
        assert!(matches!(pairings.claim(&first.claim_secret), Claim::Waiting));
        assert!(matches!(pairings.claim("tombolo_pair_other"), Claim::Unknown));
        let device = |request: &PendingPairing| {
            let (client_id, workspace) = (request.client_id.clone(), protocol::WorkspaceName::default());
            let device =
                PairedDevice { client_id, workspace, token: "t".into(), expires_at: Timestamp::now() };
            Ok::<_, ()>((device, ()))
        };
        assert!(matches!(pairings.confirm(&first.code, device), Some(Ok(()))));
        assert!(pairings.confirm(&first.code, device).is_none(), "it is confirmed once");
        assert!(matches!(pairings.claim(&first.claim_secret), Claim::Confirmed(_)));
        assert!(matches!(pairings.claim(&first.claim_secret), Claim::Unknown));
        assert!(pairings.refuse(&second.code) && !pairings.refuse(&second.code));
        assert!(matches!(pairings.claim(&second.claim_secret), Claim::Refused));
    }
}
