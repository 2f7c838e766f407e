//! The files by which containers get devices: this program, the object to preload, and a file for tools that know the
//! Container Device Interface (CDI).

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use softhca_settings::LAUNCHER_VARIABLE;

use super::preload;

/// Where containers have the files.
const IN_CONTAINERS: &str = "/opt/softhca";

/// Writes the files to `directory`, which is made if it is missing.
pub(crate) fn install(directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let directory = directory.canonicalize()?;
    let host =
        directory.to_str().filter(|path| !path.contains(|letter: char| letter.is_control() || "\"\\".contains(letter)));
    let host =
        host.ok_or_else(|| format!("{}: no quotes, backslashes and other bytes than UTF-8", directory.display()))?;
    put(&directory.join("softhca-run"), &std::fs::read("/proc/self/exe")?, 0o755)?;
    put(&directory.join(preload::NAME), &preload::object()?, 0o644)?;
    put(&directory.join("softhca.json"), cdi(host).as_bytes(), 0o644)
}

/// Writes a file. A program that runs from an old one keeps it.
fn put(file: &Path, bytes: &[u8], mode: u32) -> Result<(), Box<dyn std::error::Error>> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let fault = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut new = tempfile::NamedTempFile::new_in(directory).map_err(fault)?;
    new.write_all(bytes).and_then(|()| new.as_file().set_permissions(Permissions::from_mode(mode))).map_err(fault)?;
    new.persist(file).map_err(|error| fault(error.error))?;
    Ok(())
}

/// The CDI file: the directory `host` appears in the container, and each program of the container is started by the
/// launcher.
fn cdi(host: &str) -> String {
    let object = preload::NAME;
    format!(
        r#"{{
  "cdiVersion": "0.3.0",
  "kind": "softhca/hca",
  "devices": [
    {{
      "name": "mlx5",
      "containerEdits": {{
        "env": [
          "LD_PRELOAD={IN_CONTAINERS}/{object}",
          "{LAUNCHER_VARIABLE}={IN_CONTAINERS}/softhca-run"
        ],
        "mounts": [
          {{
            "hostPath": "{host}",
            "containerPath": "{IN_CONTAINERS}",
            "options": ["bind", "ro", "nosuid", "nodev"]
          }}
        ]
      }}
    }}
  ]
}}
"#
    )
}
