use super::*;
use agent_catalog::{Table, Want};

/// The addresses of a component's own vendor, for every platform that it serves.
fn urls(component: &str, want: &Want) -> Vec<(&'static str, String)> {
    let table = Table::built_in().unwrap();
    let row = &table.components[&component.parse().unwrap()];
    let url = |platform: Platform| {
        let offer =
            *offers(row, platform, &[]).iter().find(|o| matches!(o.source, Source::Download { .. }))?;
        let Source::Download { url, latest_url, .. } = offer.source else { return None };
        let url = latest_url.as_ref().filter(|_| *want == Want::Latest).unwrap_or(url);
        Some((platform.as_str(), offer.fill(url, "VERSION").unwrap()))
    };
    Platform::ALL.into_iter().filter_map(url).collect()
}

#[track_caller]
fn check(component: &str, want: &Want, expected: &[(&'static str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(platform, url)| (*platform, (*url).to_owned())).collect();
    assert_eq!(urls(component, want), expected);
}

/// daemon-7: the addresses of document 003, letter by letter.
#[test]
fn downloads_are_where_the_document_says() {
    check(
        "claude",
        &Want::Pinned,
        &[
            (
                "linux-x64",
                "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/VERSION/linux-x64/claude",
            ),
            (
                "linux-x64-musl",
                "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/VERSION/linux-x64-musl/claude",
            ),
            (
                "linux-arm64",
                "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/VERSION/linux-arm64/claude",
            ),
            (
                "darwin-arm64",
                "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/VERSION/darwin-arm64/claude",
            ),
            (
                "darwin-x64",
                "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/VERSION/darwin-x64/claude",
            ),
        ],
    );
    // Codex is linked statically, so arm64 with musl has it too, though the document does not list it.
    check(
        "codex",
        &Want::Latest,
        &[
            (
                "linux-x64",
                "https://github.com/openai/codex/releases/latest/download/codex-x86_64-unknown-linux-musl.tar.gz",
            ),
            (
                "linux-x64-musl",
                "https://github.com/openai/codex/releases/latest/download/codex-x86_64-unknown-linux-musl.tar.gz",
            ),
            (
                "linux-arm64",
                "https://github.com/openai/codex/releases/latest/download/codex-aarch64-unknown-linux-musl.tar.gz",
            ),
            (
                "linux-arm64-musl",
                "https://github.com/openai/codex/releases/latest/download/codex-aarch64-unknown-linux-musl.tar.gz",
            ),
            (
                "darwin-arm64",
                "https://github.com/openai/codex/releases/latest/download/codex-aarch64-apple-darwin.tar.gz",
            ),
            (
                "darwin-x64",
                "https://github.com/openai/codex/releases/latest/download/codex-x86_64-apple-darwin.tar.gz",
            ),
        ],
    );
    check(
        "opencode",
        &Want::Latest,
        &[
            (
                "linux-x64",
                "https://github.com/anomalyco/opencode/releases/latest/download/opencode-linux-x64.tar.gz",
            ),
            (
                "linux-x64-musl",
                "https://github.com/anomalyco/opencode/releases/latest/download/opencode-linux-x64-musl.tar.gz",
            ),
            (
                "linux-arm64",
                "https://github.com/anomalyco/opencode/releases/latest/download/opencode-linux-arm64.tar.gz",
            ),
            (
                "darwin-arm64",
                "https://github.com/anomalyco/opencode/releases/latest/download/opencode-darwin-arm64.zip",
            ),
            (
                "darwin-x64",
                "https://github.com/anomalyco/opencode/releases/latest/download/opencode-darwin-x64.zip",
            ),
        ],
    );
    check(
        "amp",
        &Want::Pinned,
        &[
            (
                "linux-x64",
                "https://storage.googleapis.com/amp-public-assets-prod-0/cli/VERSION/amp-linux-x64",
            ),
            (
                "linux-arm64",
                "https://storage.googleapis.com/amp-public-assets-prod-0/cli/VERSION/amp-linux-arm64",
            ),
            (
                "darwin-arm64",
                "https://storage.googleapis.com/amp-public-assets-prod-0/cli/VERSION/amp-darwin-arm64",
            ),
            (
                "darwin-x64",
                "https://storage.googleapis.com/amp-public-assets-prod-0/cli/VERSION/amp-darwin-x64",
            ),
        ],
    );
}

/// daemon-7: a specific version replaces `latest` with `download/{tag}`.
#[test]
fn a_pinned_release_is_named_by_its_tag() {
    let of = |component, platform: &str| {
        urls(component, &Want::Pinned).into_iter().find(|(name, _)| *name == platform).unwrap().1
    };
    assert_eq!(
        of("codex", "linux-x64"),
        "https://github.com/openai/codex/releases/download/rust-vVERSION/codex-x86_64-unknown-linux-musl.tar.gz"
    );
    assert_eq!(
        of("opencode", "darwin-x64"),
        "https://github.com/anomalyco/opencode/releases/download/vVERSION/opencode-darwin-x64.zip"
    );
}

/// daemon-7: where the newest version is asked for.
#[test]
fn the_newest_version_is_asked_for_where_the_document_says() {
    let table = Table::built_in().unwrap();
    for (component, expected) in [
        (
            "claude",
            "https://storage.googleapis.com/claude-code-dist-86c565f3-f756-42ad-8dfa-d59b1c096819/claude-code-releases/latest",
        ),
        ("codex", "https://api.github.com/repos/openai/codex/releases/latest"),
        ("opencode", "https://api.github.com/repos/anomalyco/opencode/releases/latest"),
        ("amp", "https://storage.googleapis.com/amp-public-assets-prod-0/cli/cli-version.txt"),
    ] {
        let Source::Download { latest: Some(latest), .. } =
            &table.components[&component.parse().unwrap()].sources[0]
        else {
            panic!("{component}")
        };
        assert_eq!(latest.url, expected);
    }
}

#[test]
fn a_tag_tells_its_version() {
    let table = Table::built_in().unwrap();
    let row = &table.components[&"codex".parse().unwrap()];
    let offer = offers(row, Platform::LinuxX64, &[])[0];
    assert_eq!(offer.version_of_tag("rust-v0.166.0").unwrap().as_str(), "0.166.0");
    assert!(offer.version_of_tag("../../etc").is_err());
}

/// daemon-7: mirror, download, npm: in this order.
#[test]
fn sources_are_tried_in_order() {
    let table = Table::built_in().unwrap();
    let mirrors = [Mirror::parse("http://m.example").unwrap()];
    let labels = |component: &str, platform| -> Vec<_> {
        let row = &table.components[&component.parse().unwrap()];
        offers(row, platform, &mirrors).iter().map(Offer::label).collect()
    };
    assert_eq!(
        labels("claude", Platform::LinuxX64),
        [
            "mirror m.example",
            "download from storage.googleapis.com",
            "npm tarball @anthropic-ai/claude-code-linux-x64"
        ]
    );
    assert_eq!(
        labels("claude", Platform::LinuxArm64Musl),
        ["npm tarball @anthropic-ai/claude-code-linux-arm64-musl"]
    );
    assert!(labels("amp", Platform::LinuxX64Musl).is_empty(), "Amp is not made for musl");
}
