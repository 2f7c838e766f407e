//! The pages for readers: this program writes charts and tables there, so that no figure is typed by hand.
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::measured::Measurements;
use crate::sections::{SECTIONS, Section};
use crate::summary::Summary;
use crate::tables;
use crate::verdict::Figure;

/// This program writes everything between these two lines of a page.
type Place = [&'static str; 2];
/// The results at a glance, on the page beside the folder.
const RESULTS: Place = ["<!-- results: written by bench_report, not by hand -->", "<!-- end of results -->"];
/// All charts and tables, on the page [`TABLES`] in the folder.
const FIGURES: Place = ["<!-- figures: written by bench_report, not by hand -->", "<!-- end of figures -->"];
/// The page of all charts and tables.
const TABLES: &str = "tables.md";

/// Copies the charts of `drawn` from `charts` to the folder `docs`. Writes their tables into the folder's page of
/// tables, and the results into the page beside the folder, which has the folder's name and `.md`.
pub(crate) fn update(
    docs: &Path,
    charts: &Path,
    drawn: &[&Section],
    figures: &[Figure<'_>],
    measurements: &Measurements,
    summary: &Summary,
) -> Result<()> {
    let (page, appendix) = (docs.with_extension("md"), docs.join(TABLES));
    let cpu = format!("CPU: {}.\n\n", measurements.cpu);
    let results = format!("{cpu}{}", results(figures, summary));
    let results = replaced(&page, RESULTS, &results)?;
    let tables = replaced(&appendix, FIGURES, &format!("{cpu}{}", all(drawn, figures, measurements, summary)))?;
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
    for (page, text) in [(page, results), (appendix, tables)] {
        fs::write(&page, text).with_context(|| page.display().to_string())?;
    }
    Ok(())
}

/// The text of the file `page` with other figures.
fn replaced(page: &Path, place: Place, figures: &str) -> Result<String> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    replace(&text, place, figures).with_context(|| page.display().to_string())
}

/// A page's text with other figures.
fn replace(page: &str, [begin, end]: Place, figures: &str) -> Result<String> {
    let (before, rest) = page.split_once(begin).with_context(|| format!("no line `{begin}`"))?;
    let (_, after) = rest.split_once(end).with_context(|| format!("no line `{end}` after the other"))?;
    ensure!(!after.contains(begin) && !after.contains(end), "more than one place for figures");
    Ok(format!("{before}{begin}\n\n{figures}\n{end}{after}"))
}

fn results(figures: &[Figure<'_>], summary: &Summary) -> String {
    format!("{}\n\n{}\n", tables::headlines(summary).markdown(), tables::verdicts(figures).markdown())
}

fn all(drawn: &[&Section], figures: &[Figure<'_>], measurements: &Measurements, summary: &Summary) -> String {
    let mut text = format!("## Goals\n\n{}\n", tables::goals(figures).markdown());
    for section in drawn {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n## {}\n\n![{0}]({}.svg)\n", section.title, section.file);
        if let Some(table) = tables::section(section, measurements, summary) {
            let _ = write!(text, "\n<details><summary>the figures</summary>\n\n{}\n\n</details>\n", table.markdown());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = ["<begin>", "<end>"];

    #[test]
    fn figures_are_replaced_and_the_rest_stays() {
        let page = "above\n<begin>\nold\n<end>\nbelow\n";
        let once = replace(page, PLACE, "new\n").unwrap();
        assert_eq!(once, "above\n<begin>\n\nnew\n\n<end>\nbelow\n");
        assert_eq!(replace(&once, PLACE, "new\n").unwrap(), once);
    }

    #[test]
    fn a_page_without_a_place_for_figures_is_left_alone() {
        for page in ["text", "<begin>", "<end><begin>", "<begin><end><begin><end>"] {
            assert!(replace(page, PLACE, "new").is_err(), "{page}");
        }
    }
}
