//! Reports as text for people.
use std::fmt;

use anstyle::{AnsiColor, Style};

use crate::report::{Kind, Part, Record, Report, hex};

/// A report with colours, as ANSI sequences. The printing program decides whether they reach the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Styled<'a>(pub &'a Report);

/// The style of each element.
#[derive(Default)]
struct Palette {
    title: Style,
    failed: Style,
    segment: Style,
    value: Style,
    faint: Style,
    advice: Style,
}

impl Palette {
    fn coloured() -> Self {
        Self {
            title: Style::new().bold(),
            failed: AnsiColor::Red.on_default().bold(),
            segment: AnsiColor::Cyan.on_default(),
            value: AnsiColor::Yellow.on_default(),
            faint: Style::new().dimmed(),
            advice: AnsiColor::Green.on_default(),
        }
    }
}

impl fmt::Display for Styled<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        report(self.0, &Palette::coloured(), f)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        report(self, &Palette::default(), f)
    }
}

fn report(report: &Report, palette: &Palette, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, record) in report.records.iter().enumerate() {
        if index > 0 {
            writeln!(f)?;
        }
        one(record, palette, f)?;
    }
    Ok(())
}

fn one(record: &Record, palette: &Palette, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Palette { title, failed, faint, advice, .. } = palette;
    let style = if record.diagnosis.is_some() { failed } else { title };
    write!(f, "{style}{}{style:#}", printable(&record.title))?;
    if record.line > 0 {
        write!(f, "  {faint}line {}{faint:#}", record.line)?;
    }
    writeln!(f)?;
    for line in &record.log {
        writeln!(f, "  {faint}{}{faint:#}", printable(line))?;
    }
    for part in &record.parts {
        segment(part, palette, f)?;
    }
    if record.kind == Kind::Unknown {
        for (index, row) in record.bytes.chunks(16).enumerate() {
            writeln!(f, "  {faint}{:04x}{faint:#}  {}", index * 16, hex(row))?;
        }
    }
    for note in &record.notes {
        writeln!(f, "  note: {}", printable(note))?;
    }
    if let Some(diagnosis) = &record.diagnosis {
        writeln!(f, "  {failed}{}{failed:#}", printable(&diagnosis.summary))?;
        for detail in &diagnosis.details {
            writeln!(f, "    {}", printable(detail))?;
        }
        for try_this in &diagnosis.advice {
            writeln!(f, "  {advice}try:{advice:#} {}", printable(try_this))?;
        }
    }
    Ok(())
}

fn segment(part: &Part, palette: &Palette, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Palette { segment, value, faint, .. } = palette;
    writeln!(f, "  {segment}{}{segment:#}", part.name)?;
    let width = part.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
    for field in &part.fields {
        write!(f, "    ")?;
        if part.bytes > 0 {
            write!(f, "{faint}{:04x}{faint:#}  ", field.offset)?;
        }
        write!(f, "{:width$}  {value}{}{value:#}", printable(&field.name), printable(&field.value.to_string()))?;
        match &field.meaning {
            Some(meaning) => writeln!(f, "  {}", printable(meaning))?,
            None => writeln!(f)?,
        }
    }
    Ok(())
}

/// Text of another program, a file or a log, for a terminal: with the characters escaped that could affect the terminal
/// or the order of what people see. These are control characters, and the invisible ones that direct text (Unicode's
/// UAX 9), join it or end a line. A tabulator becomes a space.
///
/// ```
/// let name = blueflame_decode::printable("red \u{1b}[31m, \u{202e}backwards");
/// assert_eq!(name, r"red \u{1b}[31m, \u{202e}backwards");
/// ```
#[must_use]
pub fn printable(text: &str) -> String {
    let is_directing = |c: char| match c {
        '\u{61c}' | '\u{feff}' => true,
        _ => {
            ('\u{200b}'..='\u{200f}').contains(&c)
                || ('\u{2028}'..='\u{202e}').contains(&c)
                || ('\u{2060}'..='\u{206f}').contains(&c)
        }
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' {
            shown.push(' ');
        } else if c.is_control() || is_directing(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}
