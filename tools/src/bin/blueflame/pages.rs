//! The frame of all commands' pages: head and style.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A page with this title, which is also its heading, and this body.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                (body)
            }
        }
    };
    page.into_string()
}

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1b; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid #ccc; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: .3rem .6rem; }
tr + tr td { border-top: 1px solid #eee; } td.name, td.time { white-space: nowrap; } code { font-size: .9rem; }
.passed { color: #176f2c; } .failed { color: #b3261e; font-weight: bold; } .skipped { color: #7a5c00; }
.means { color: #555; } .figures, .time { color: #555; font-size: .9rem; } .advice { color: #7a5c00; }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #e6e6e6; } tr + tr td { border-color: #333; } h2 { border-color: #444; }
  .passed { color: #6fcf85; } .failed { color: #ff8a80; } .skipped, .advice { color: #e0bf5c; }
  .means, .figures, .time { color: #aaa; }
}
";
