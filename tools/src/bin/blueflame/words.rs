//! Values of options as words.

/// Parses a word of a table as the value beside it.
pub(crate) fn named<T: Copy + Send + Sync + 'static>(
    table: &'static [(&'static str, T)],
) -> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(table.iter().map(|(name, _)| *name)).map(|word| {
        let found = table.iter().find(|(name, _)| *name == word);
        found.unwrap_or(&table[0]).1
    })
}
