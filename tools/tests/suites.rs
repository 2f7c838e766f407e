//! `scripts/suites` with small suites: the commits of a suite and of its table, and command lines as tests.
//!
//! The script itself belongs here. Outcomes of real suites belong in `softhca/uverbs/tests/suites`.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The commit of the table.
const TABLE: &str = "0123abc";
/// A program of googletest with one test, which passes.
const PROGRAM: &str = "#!/bin/sh\ncase $1 in\n--gtest_list_tests) printf 'suite.\\n  one\\n' ;;\n\
                       *) echo '[  PASSED  ] 1 test.' ;;\nesac\n";

/// A copy of the script, with the table of a suite, and the suite's folder.
struct Lab {
    root: TempDir,
    suite: TempDir,
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).expect("written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
}

impl Lab {
    fn new() -> Self {
        let [root, suite] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let scripts = root.path().join("scripts");
        fs::create_dir(&scripts).expect("made");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/suites");
        fs::copy(script, scripts.join("suites")).expect("copied");
        // The launcher: the program behind `--`, which finds the last option of the launcher in its environment.
        let launcher = "#!/bin/sh\nwhile [ \"$1\" != -- ]; do export OPTION=\"$1\"; shift; done\nshift\nexec \"$@\"\n";
        executable(&root.path().join("launcher"), launcher);
        executable(&suite.path().join("its_tests"), PROGRAM);
        Self { root, suite }
    }

    fn table(&self, commit: &str) {
        self.table_of(commit, "kind = \"gtest\"\nprogram = \"its_tests\"\n[runs.only]\nlauncher = []\nseconds = 20\n");
    }

    fn table_of(&self, commit: &str, rest: &str) {
        let folder = self.root.path().join("softhca/uverbs/tests/suites");
        fs::create_dir_all(&folder).expect("made");
        let table = format!("source = \"https://example.org/own at {commit}\"\n{rest}");
        fs::write(folder.join("own.toml"), table).expect("written");
    }

    /// The suite's folder becomes a repository. Its commit.
    fn commit(&self) -> String {
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(self.suite.path()).args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
            let output = command.args(words).output().expect("git starts");
            assert!(output.status.success(), "{words:?}: {output:?}");
            String::from_utf8(output.stdout).expect("text").trim().to_owned()
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--no-gpg-sign", "-m", "one"]);
        git(&["rev-parse", "HEAD"])[..TABLE.len()].to_owned()
    }

    /// The output of the script for the suite, whose test passes.
    fn run(&self) -> String {
        let script: PathBuf = self.root.path().join("scripts/suites");
        let suite = format!("own={}", self.suite.path().display());
        let mut command = Command::new("python3");
        let output = command.arg(script).arg(self.root.path().join("launcher")).arg(suite).output().expect("starts");
        let words = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success(), "{words}{}", String::from_utf8_lossy(&output.stderr));
        words
    }
}

#[test]
fn the_summary_has_the_commit_of_the_suite() {
    let lab = Lab::new();
    lab.table(TABLE);
    let unknown = lab.run();
    assert!(unknown.contains("warning: own is at an unknown commit, and its table is about 0123abc"), "{unknown}");
    assert!(
        unknown.ends_with("1 passed, 0 failed, 0 skipped: own at an unknown commit (table: 0123abc)\n"),
        "{unknown}"
    );

    let commit = lab.commit();
    let other = lab.run();
    assert!(other.contains(&format!("warning: own is at {commit}, and its table is about 0123abc")), "{other}");
    assert!(other.ends_with(&format!("own at {commit} (table: 0123abc)\n")), "{other}");

    lab.table(&commit);
    let same = lab.run();
    assert!(!same.contains("warning") && same.ends_with(&format!("skipped: own at {commit}\n")), "{same}");

    executable(&lab.suite.path().join("its_tests"), &format!("{PROGRAM}# Changed.\n"));
    let changed = lab.run();
    assert!(changed.contains(&format!("warning: own is at {commit} with changes, and its")), "{changed}");
}

/// A line that fails ends its other end, which would wait for ever; a line that passes runs as often as its run says.
#[test]
fn lines_run_as_server_and_client() {
    let lab = Lab::new();
    let runs = lab.suite.path().join("runs");
    let program = format!(
        "#!/bin/sh\ncase \"$1 $2\" in\n'fine '*) echo $2 >> {runs} ;;\n'lost server') exec sleep 60 ;;\n\
         'lost client') exit 3 ;;\n'without '*) exit 61 ;;\nesac\n",
        runs = runs.display()
    );
    executable(&lab.suite.path().join("talk"), &program);
    let row = |name: &str, outcome: &str| {
        format!("[[known]]\ntests = [\"talk {name}\"]\noutcome = \"{outcome}\"\nwhy = \"so\"\nsource = \"here\"\n")
    };
    let run = "kind = \"lines\"\n[runs.pair]\nlauncher = []\nseconds = 20\ntimes = 2\nserver = [\"server\"]\n\
               client = [\"client\"]\nlines = [\"talk fine\", \"talk lost\", \"talk without\"]\n";
    lab.table_of(TABLE, &[run, &row("lost", "failed"), &row("without", "skipped")].concat());
    let printed = lab.run();
    assert!(printed.contains("1 passed, 1 failed, 1 skipped: own"), "{printed}");
    assert_eq!(fs::read_to_string(runs).expect("written"), "server\nclient\n".repeat(2));
}

/// Servers of lines that run at one time listen to different ports.
#[test]
fn a_line_has_a_port_of_its_own() {
    let lab = Lab::new();
    let ports = lab.suite.path().join("ports");
    executable(&lab.suite.path().join("talk"), &format!("#!/bin/sh\necho $2 $3 $4 >> {}\n", ports.display()));
    let run = "kind = \"lines\"\n[runs.pair]\nlauncher = []\nseconds = 20\narguments = [\"-p\", \"PORT\"]\n\
               server = [\"server\"]\nclient = [\"client\"]\nlines = [\"talk one\", \"talk other\"]\n";
    lab.table_of(TABLE, run);
    lab.run();
    let ports = fs::read_to_string(ports).expect("written");
    let port = |line: &str, end: &str| {
        let words = ports.lines().find_map(|words| words.strip_suffix(&format!(" {line} {end}")));
        words.expect("both ends of both lines ran").parse::<u16>().expect("a port")
    };
    assert_eq!(port("one", "server"), port("one", "client"), "{ports}");
    assert_eq!(port("other", "server"), port("other", "client"), "{ports}");
    assert_ne!(port("one", "server"), port("other", "server"), "{ports}");
}

/// Tests of Python's unittest pass, fail and skip themselves. No two are on one network.
#[test]
fn tests_of_rdma_core_are_alone() {
    let lab = Lab::new();
    let networks = lab.suite.path().join("networks");
    let program = format!(
        "#!/bin/sh\nif [ $1 = --list-tests ]; then printf 'tests.a.B.%s\\n' ok bad not; exit; fi\necho $OPTION >> {}\n\
         echo Ran 1 test in 0.1s\ncase $4 in\n*.ok) echo OK ;;\n*.bad) exit 1 ;;\n*) echo 'OK (skipped=1)' ;;\nesac\n",
        networks.display()
    );
    executable(&lab.suite.path().join("its_tests"), &program);
    let row = |name: &str, outcome: &str| {
        format!("[[known]]\ntests = [\"*.{name}\"]\noutcome = \"{outcome}\"\nwhy = \"so\"\nsource = \"here\"\n")
    };
    let run = "kind = \"pyverbs\"\nprogram = \"its_tests\"\n[runs.only]\nlauncher = []\nseconds = 20\n";
    lab.table_of(TABLE, &[run, &row("bad", "failed"), &row("not", "skipped")].concat());
    let printed = lab.run();
    assert!(printed.contains("1 passed, 1 failed, 1 skipped: own"), "{printed}");
    let networks = fs::read_to_string(networks).expect("written");
    let different: HashSet<&str> = networks.lines().collect();
    let named = different.iter().all(|option| option.starts_with("--fabric=/dev/shm/"));
    assert!(named && different.len() == 3, "{networks}");
}

/// Programs that would take each other's port.
#[test]
fn a_table_limits_the_tests_at_a_time() {
    let lab = Lab::new();
    let port = lab.suite.path().join("port");
    let program = format!("#!/bin/sh\nmkdir {0} || exit 1\nsleep 0.2\nrmdir {0}\n", port.display());
    executable(&lab.suite.path().join("talk"), &program);
    let run = "kind = \"lines\"\njobs = 1\n[runs.only]\nlauncher = []\nseconds = 20\n\
               lines = [\"talk one\", \"talk other\"]\n";
    lab.table_of(TABLE, run);
    let printed = lab.run();
    assert!(printed.contains("2 passed, 0 failed, 0 skipped: own"), "{printed}");
}
