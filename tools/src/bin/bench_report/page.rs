//! The page for readers: its charts and tables are put there by this program, so that nobody types figures.
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::measured::Measurements;
use crate::sections::{SECTIONS, Section};
use crate::summary::Summary;
use crate::tables;
use crate::verdict::Figure;

/// What is between these lines of the page is this program's.
const BEGIN: &str = "<!-- figures: written by bench_report, not by hand -->";
const END: &str = "<!-- end of figures -->";

/// Copies the charts of `drawn` from `charts` to the folder `docs`, and writes the figures into the page beside it, which
/// has the folder's name and `.md`.
pub(crate) fn update(
    docs: &Path,
    charts: &Path,
    drawn: &[&Section],
    figures: &[Figure<'_>],
    measurements: &Measurements,
    summary: &Summary,
) -> Result<()> {
    let page = docs.with_extension("md");
    let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
    let folder = docs.file_name().context("--docs names no folder")?.to_string_lossy();
    let text = replace(&text, &render(&folder, drawn, figures, measurements, summary))
        .with_context(|| page.display().to_string())?;
    fs::create_dir_all(docs).with_context(|| docs.display().to_string())?;
    for section in SECTIONS {
        let file = format!("{}.svg", section.file);
        let to = docs.join(&file);
        if drawn.iter().any(|drawn| drawn.file == section.file) {
            fs::copy(charts.join(&file), &to).with_context(|| to.display().to_string())?;
        } else if to.exists() {
            // A chart of another run beside these figures would be taken for theirs.
            fs::remove_file(&to).with_context(|| to.display().to_string())?;
        }
    }
    fs::write(&page, text).with_context(|| page.display().to_string())
}

/// The page's text with other figures.
fn replace(page: &str, figures: &str) -> Result<String> {
    let (before, rest) = page.split_once(BEGIN).with_context(|| format!("no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("no line `{END}` after the other"))?;
    ensure!(!after.contains(BEGIN) && !after.contains(END), "more than one place for figures");
    Ok(format!("{before}{BEGIN}\n\n{figures}\n{END}{after}"))
}

fn render(
    folder: &str,
    drawn: &[&Section],
    figures: &[Figure<'_>],
    measurements: &Measurements,
    summary: &Summary,
) -> String {
    let mut text = format!("CPU: {}.\n\n### Goals\n\n{}\n", measurements.cpu, tables::goals(figures).markdown());
    for section in drawn {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n### {}\n\n![{0}]({folder}/{}.svg)\n", section.title, section.file);
        if let Some(table) = tables::section(section, measurements, summary) {
            let _ = write!(text, "\n<details><summary>the figures</summary>\n\n{}\n\n</details>\n", table.markdown());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_replaced_and_the_rest_stays() {
        let page = format!("above\n{BEGIN}\nold\n{END}\nbelow\n");
        let once = replace(&page, "new\n").unwrap();
        assert_eq!(once, format!("above\n{BEGIN}\n\nnew\n\n{END}\nbelow\n"));
        assert_eq!(replace(&once, "new\n").unwrap(), once);
    }

    #[test]
    fn a_page_without_a_place_for_figures_is_left_alone() {
        for page in ["text", BEGIN, &format!("{END}{BEGIN}"), &format!("{BEGIN}{END}{BEGIN}{END}")] {
            assert!(replace(page, "new").is_err(), "{page}");
        }
    }
}
