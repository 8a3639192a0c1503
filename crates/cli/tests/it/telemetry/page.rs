//! A page of numbers, read as strictly as OpenMetrics 1.0 is written.

use std::collections::{BTreeMap, BTreeSet};

/// A page of numbers.
pub(super) struct Page {
    /// The kind of each.
    pub(super) kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

/// What may follow the name of a number, by its kind.
fn suffixes(kind: &str) -> &'static [&'static str] {
    match kind {
        "counter" => &["_total"],
        "gauge" => &[""],
        "histogram" => &["_bucket", "_count", "_sum"],
        other => panic!("`{other}` is no kind that we have"),
    }
}

impl Page {
    /// Reads a page.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.strip_suffix("# EOF\n").expect("the page is whole");
        let mut kinds = BTreeMap::<String, String>::new();
        let mut samples = BTreeMap::new();
        let (mut name, mut seen) = (String::new(), BTreeSet::new());
        for line in text.lines() {
            let Some(comment) = line.strip_prefix("# ") else {
                let (series, value) = line.rsplit_once(' ').expect(line);
                check_series(series, &name, &kinds[&name]);
                assert!(
                    samples.insert(series.to_owned(), value.parse().expect(line)).is_none(),
                    "{line} twice"
                );
                continue;
            };
            let mut words = comment.splitn(3, ' ');
            let (what, of, rest) =
                (words.next().unwrap(), words.next().expect(line), words.next().expect(line));
            assert!(is_name(of), "{line}");
            if of != name {
                assert!(seen.insert(of.to_owned()), "{of} is in two places");
                name = of.to_owned();
            }
            match what {
                "HELP" => assert!(rest.ends_with('.') && !rest.contains(['"', '\\']), "{line}"),
                "UNIT" => assert!(of.ends_with(&format!("_{rest}")), "{line}"),
                "TYPE" => assert!(kinds.insert(of.to_owned(), rest.to_owned()).is_none(), "{line}"),
                _ => panic!("{line}"),
            }
        }
        let page = Self { kinds, samples };
        page.check_histograms();
        page
    }

    /// The sum of all numbers of this name whose labels are among others.
    pub(super) fn get(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let wanted: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        let of = |series: &&String| series.split('{').next() == Some(name);
        let fits = |series: &&String| wanted.iter().all(|label| series.contains(label));
        self.samples.keys().filter(of).filter(fits).map(|series| self.samples[series]).sum()
    }

    /// The values of a label, wherever it is.
    pub(super) fn values(&self, label: &str) -> BTreeSet<&str> {
        let start = format!("{label}=\"");
        let value = |series: &'_ String| -> Option<usize> { series.find(&start).map(|at| at + start.len()) };
        let found = self.samples.keys().filter_map(|series| Some((series, value(series)?)));
        found.map(|(series, at)| series[at..].split('"').next().unwrap()).collect()
    }

    /// Buckets grow, and the last holds all.
    fn check_histograms(&self) {
        for (series, count) in self.samples.iter().filter(|(series, _)| series.contains("_count")) {
            let all = match series.split_once("_count{") {
                Some((name, labels)) => format!("{name}_bucket{{le=\"+Inf\",{labels}"),
                None => format!("{}_bucket{{le=\"+Inf\"}}", series.strip_suffix("_count").unwrap()),
            };
            assert_eq!(self.samples.get(&all), Some(count), "{series}");
        }
    }
}

fn is_name(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn check_series(series: &str, name: &str, kind: &str) {
    let (full, labels) = match series.split_once('{') {
        Some((full, labels)) => (full, labels.strip_suffix('}').expect(series)),
        None => (series, ""),
    };
    let suffix = full.strip_prefix(name).unwrap_or_else(|| panic!("{series} is not part of {name}"));
    assert!(suffixes(kind).contains(&suffix), "{series} is no {kind}");
    // No value of ours has a comma in it.
    for label in labels.split(',').filter(|label| !label.is_empty()) {
        let (key, value) = label.split_once('=').expect(series);
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect(series);
        assert!(is_name(key) && !value.contains(['"', '\\', '\n']), "{series}");
    }
}
