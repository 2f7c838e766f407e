//! The functions that are declared in this package, against the libraries that are installed: each has a symbol of the
//! version that is asked for, and that is the version which a linker would record today.

use std::path::PathBuf;

use blueflame_sys::{available, declared};
use object::Endianness;
use object::read::elf::ElfFile64;

/// The file of a library that is loaded.
fn file(library: &str) -> PathBuf {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the mappings");
    let path = maps.lines().filter_map(|line| line.split_ascii_whitespace().nth(5));
    path.filter(|path| path.rsplit('/').next().is_some_and(|file| file.starts_with(library)))
        .map(PathBuf::from)
        .next()
        .expect("loaded")
}

#[test]
fn the_installed_libraries_have_the_functions() {
    assert_eq!(available::verbs(), Ok(()));
    assert_eq!(available::later(), Ok(()));
    assert_eq!(available::mlx5dv(), Ok(()));
    assert_eq!(available::devx(), Ok(()));
    assert_eq!(available::vfio(), Ok(()));
}

#[test]
fn versions_are_those_that_a_linker_records() {
    the_installed_libraries_have_the_functions();
    for (library, functions) in declared::FUNCTIONS {
        let bytes = std::fs::read(file(library)).expect("the library");
        let defaults = defaults(&bytes);
        for function in *functions {
            let version = defaults.iter().find(|(name, _)| name == function.name).map(|(_, version)| version.as_str());
            assert_eq!(version, Some(function.version), "{} of {library}", function.name);
        }
    }
}

/// Older releases lack them, and then the library is named.
#[test]
fn later_functions_are_found_where_they_are() {
    the_installed_libraries_have_the_functions();
    for later in declared::SEARCHED_ALWAYS {
        let bytes = std::fs::read(file(later.library)).expect("the library");
        let defaults = defaults(&bytes);
        let first = &later.functions[0];
        for function in later.functions {
            let version = defaults.iter().find(|(name, _)| name == function.name).map(|(_, version)| version.as_str());
            match (later.available)() {
                Ok(()) => assert_eq!(version, Some(function.version), "{}", function.name),
                Err(lacks) => {
                    assert_eq!((lacks.library, version), (later.library, None), "{}", function.name);
                    assert_eq!(lacks.symbol, Some((first.name, first.version)));
                }
            }
        }
    }
}

/// The functions of a library, each with the version that a linker takes.
fn defaults(bytes: &[u8]) -> Vec<(String, String)> {
    let elf = ElfFile64::<Endianness>::parse(bytes).expect("an ELF file");
    let endian = elf.endian();
    let sections = elf.elf_section_table();
    let versions = sections.versions(endian, bytes).expect("versions").expect("of symbols");
    let symbols = sections.symbols(endian, bytes, object::elf::SHT_DYNSYM).expect("symbols");
    let mut defaults = Vec::new();
    for (index, symbol) in symbols.enumerate() {
        let version = versions.version_index(endian, index);
        if version.is_hidden() {
            continue;
        }
        let Ok(Some(version)) = versions.version(version) else { continue };
        let name = symbols.symbol_name(endian, symbol).expect("a name");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        defaults.push((text(name), text(version.name())));
    }
    defaults
}
