//! The uses of tools that go on and have a name: what one environment uses is not there for another.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use parking_lot::Mutex;
use protocol::{
    EnvironmentId,
    relay::{ClientId, RelayError, RelayErrorCode},
};

/// The uses that go on. A clone is of the same.
#[derive(Clone, Default)]
pub(crate) struct Uses(Arc<Mutex<HashMap<Use, EnvironmentId>>>);

/// The name of a use as its device knows it: that of one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Use {
    pub(crate) client_id: ClientId,
    pub(crate) session: Option<String>,
    pub(crate) call_id: String,
}

/// A use that goes on, until this is dropped.
pub(crate) struct Going {
    uses: Uses,
    its: Use,
}

impl Uses {
    /// An environment uses a tool.
    ///
    /// # Errors
    /// `invalid_request` if a use of this name goes on, whosever it is: the device could not tell them apart.
    pub(crate) fn begin(&self, its: Use, by: EnvironmentId) -> Result<Going, RelayError> {
        match self.0.lock().entry(its.clone()) {
            Entry::Occupied(_) => {
                return Err(RelayError::new(
                    RelayErrorCode::InvalidRequest,
                    "a call with this `call_id` is still running",
                ));
            }
            Entry::Vacant(free) => free.insert(by),
        };
        Ok(Going { uses: self.clone(), its })
    }

    /// Whether it goes on for another environment.
    pub(crate) fn is_of_another(&self, its: &Use, than: EnvironmentId) -> bool {
        self.0.lock().get(its).is_some_and(|by| *by != than)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.uses.0.lock().remove(&self.its);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_free_again_when_its_use_is_over() {
        let (uses, one, two) = (Uses::default(), EnvironmentId::mint(), EnvironmentId::mint());
        let named = |session: Option<&str>| Use {
            client_id: "laptop".parse().unwrap(),
            session: session.map(str::to_owned),
            call_id: "call-1".into(),
        };
        let going = uses.begin(named(None), one).unwrap();
        assert!(uses.is_of_another(&named(None), two) && !uses.is_of_another(&named(None), one));
        assert!(uses.begin(named(None), two).is_err() && uses.begin(named(None), one).is_err());
        let _other = uses.begin(named(Some("s1")), two).unwrap();
        drop(going);
        assert!(!uses.is_of_another(&named(None), two));
        drop(uses.begin(named(None), two).unwrap());
        assert_eq!(uses.0.lock().len(), 1);
    }
}
