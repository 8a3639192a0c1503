//! The two text formats of metrics: OpenMetrics 1.0, and the older format of Prometheus.

use std::{
    collections::HashSet,
    convert::Infallible,
    fmt::{self, Write},
};

use axum::extract::FromRequestParts;
use http::{HeaderMap, header, request::Parts};

/// How a page of metrics is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsFormat {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format 0.0.4 of Prometheus, for readers that do not know OpenMetrics.
    PrometheusText,
}

/// The format that the header `Accept` prefers. OpenMetrics is for readers that name it, as in Prometheus' own libraries: others,
/// such as generated clients, only read text.
impl<S: Sync> FromRequestParts<S> for MetricsFormat {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::preferred(&parts.headers))
    }
}

impl MetricsFormat {
    fn preferred(headers: &HeaderMap) -> Self {
        let ranges: Vec<AcceptedRange<'_>> = headers
            .get_all(header::ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(AcceptedRange::parse)
            .collect();
        let open_metrics = quality(&ranges, &["application/openmetrics-text"]);
        let text = quality(&ranges, &["text/plain", "text/*", "*/*"]);
        if open_metrics > 0.0 && open_metrics >= text { Self::OpenMetrics } else { Self::PrometheusText }
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::PrometheusText => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Writes a page of OpenMetrics in this format.
    pub(super) fn convert(self, open_metrics: String) -> Result<String, fmt::Error> {
        match self {
            Self::OpenMetrics => Ok(open_metrics),
            Self::PrometheusText => prometheus_text(&open_metrics),
        }
    }
}

/// A media range of the header `Accept`, such as `text/*;q=0.5`.
struct AcceptedRange<'a> {
    media_type: &'a str,
    quality: f32,
}

impl<'a> AcceptedRange<'a> {
    fn parse(range: &'a str) -> Self {
        let mut parts = range.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default();
        let quality = parts.find_map(|part| part.strip_prefix("q=")?.parse().ok());
        Self { media_type, quality: quality.unwrap_or(1.0) }
    }
}

/// The quality of a media type, which the most specific range decides. `names` are the ranges that include it, the most specific
/// first.
fn quality(ranges: &[AcceptedRange<'_>], names: &[&str]) -> f32 {
    let of_range = |name: &str| {
        let same = ranges.iter().filter(|range| range.media_type.eq_ignore_ascii_case(name));
        same.map(|range| range.quality).reduce(f32::max)
    };
    names.iter().copied().find_map(of_range).unwrap_or(0.0)
}

/// The formats differ in three things: the older one describes a counter under the name of its samples, with `_total`, and has
/// neither units nor an end mark.
fn prometheus_text(open_metrics: &str) -> Result<String, fmt::Error> {
    let counters: HashSet<&str> = open_metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines() {
        let comment = line.strip_prefix("# ").map(|comment| comment.splitn(3, ' '));
        match comment.map(|mut words| (words.next(), words.next(), words.next())) {
            Some((Some("EOF" | "UNIT"), ..)) => {}
            Some((Some(keyword), Some(name), Some(rest))) if counters.contains(name) => {
                writeln!(text, "# {keyword} {name}_total {rest}")?;
            }
            _ => writeln!(text, "{line}")?,
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accept_header_chooses_the_format() {
        use MetricsFormat::{OpenMetrics, PrometheusText};
        let prometheus =
            "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        for (accept, format) in [
            (None, PrometheusText),
            (Some("*/*"), PrometheusText),
            (Some("application/json"), PrometheusText),
            (Some("text/plain"), PrometheusText),
            (Some(prometheus), OpenMetrics),
            (Some("Application/OpenMetrics-Text; version=1.0.0; charset=utf-8"), OpenMetrics),
            (Some("application/openmetrics-text, text/plain"), OpenMetrics),
            (Some("text/plain;version=0.0.4;q=0.5, application/openmetrics-text;q=0.4"), PrometheusText),
            (Some("application/openmetrics-text;q=0"), PrometheusText),
        ] {
            let headers = accept.map(|accept| (header::ACCEPT, accept.parse().unwrap()));
            assert_eq!(MetricsFormat::preferred(&headers.into_iter().collect()), format, "{accept:?}");
        }
    }

    #[test]
    fn the_older_format_describes_counters_by_their_full_name() {
        let page = "# HELP a_seconds Time.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\na_seconds_total 1\n\
                    # HELP b Now.\n# TYPE b gauge\nb{of=\"a_seconds counter\"} 2\n# EOF\n";
        let expected = "# HELP a_seconds_total Time.\n# TYPE a_seconds_total counter\na_seconds_total 1\n\
                        # HELP b Now.\n# TYPE b gauge\nb{of=\"a_seconds counter\"} 2\n";
        assert_eq!(prometheus_text(page).unwrap(), expected);
    }
}
