//! A section of a document that `cargo xtask codegen` writes between two marker lines.

use anyhow::bail;

/// The markers of a section, each a line of its own.
pub(crate) struct GeneratedSection {
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
}

impl GeneratedSection {
    /// Returns `document`, the text of `docs/agents.md`, with `content` as the content of this section.
    pub(crate) fn replace(&self, document: &str, content: &str) -> anyhow::Result<String> {
        let Self { start, end } = self;
        let Some((before, rest)) = document.split_once(start) else {
            bail!("docs/agents.md has no line `{}`", start.trim())
        };
        let Some((_, after)) = rest.split_once(end) else {
            bail!("docs/agents.md has no line `{}`", end.trim())
        };
        Ok(format!("{before}{start}{content}{end}{after}"))
    }
}

/// Formats a row of a Markdown table.
pub(crate) fn table_row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: GeneratedSection = GeneratedSection { start: "<!-- x -->\n", end: "<!-- /x -->\n" };

    #[test]
    fn only_text_between_the_markers_is_replaced() {
        let replaced = SECTION.replace("before\n<!-- x -->\nstale\n<!-- /x -->\nafter\n", "new\n").unwrap();
        assert_eq!(replaced, "before\n<!-- x -->\nnew\n<!-- /x -->\nafter\n");
        assert!(SECTION.replace("<!-- /x -->\n", "new\n").is_err());
        assert!(SECTION.replace("<!-- x -->\n", "new\n").is_err());
    }
}
