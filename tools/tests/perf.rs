//! `blueflame perf` between two ends, of which one may be perftest: each operation over each transport, and the files
//! that it writes.
//!
//! Runs of two ends, their options, files and exit codes belong here. Arithmetic on times and texts of the exchange
//! belongs beside the code, in `tools/src/bin/blueflame/perf`.
//!
//! ```text
//! softhca-run --
//! softhca-run --link ethernet -- ethernet
//! softhca-run --link ethernet --faults latency=30000 -- --exact messages_on_their_way_are_waited_for
//! ```

#![cfg(feature = "device")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const BLUEFLAME: &str = env!("CARGO_BIN_EXE_blueflame");

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A network of its own for both ends.
struct Network(tempfile::TempDir);

impl Network {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn command(&self, program: &str, arguments: &str) -> Command {
        let mut command = Command::new(program);
        command.args(arguments.split_whitespace()).env("SOFTHCA_FABRIC", self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts a server, which listens then.
    fn server(&self, program: &str, arguments: &str, port: u16) -> Child {
        let mut server = self.command(program, &format!("{arguments} -p {port}")).spawn().expect("starts");
        let begin = Instant::now();
        while !is_in(LISTEN, port) && server.try_wait().expect("a child").is_none() {
            assert!(begin.elapsed() < PATIENCE, "{program} {arguments} does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        server
    }

    /// Runs a server and a client.
    fn pair(&self, server: (&str, &str), client: (&str, &str)) -> [Output; 2] {
        let port = free_port();
        let server = self.server(server.0, server.1, port);
        let client = self.command(client.0, &format!("{} -p {port} localhost", client.1)).output().expect("runs");
        [server.wait_with_output().expect("ends"), client]
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}

/// States of TCP sockets in the kernel's table.
const ESTABLISHED: &str = "01";
const LISTEN: &str = "0A";

/// Whether a socket of this port is in a state. Asked of the kernel: a connection to try would be taken for the
/// client's.
fn is_in(state: &str, port: u16) -> bool {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    let wanted = format!(":{port:04X}");
    tables.iter().flat_map(|table| table.lines()).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|local| local.ends_with(&wanted)) && fields.nth(1) == Some(state)
    })
}

/// Runs `blueflame perf` on a network of its own.
fn perf(arguments: &str) -> Output {
    Network::new().command(BLUEFLAME, &format!("perf {arguments}")).output().expect("runs")
}

/// The report of a run of both ends in one process.
fn local(arguments: &str) -> Value {
    report(&perf(&format!("{arguments} --local --json -")))
}

fn report(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Checks the results of a run of `messages` measured messages.
fn check(report: &Value, messages: u64) {
    for result in report["results"].as_array().expect("results") {
        let sent = &result["sent"];
        assert_eq!(sent["messages"], messages, "{report:#}");
        assert!(number(&sent["messages_per_second"]) > 0.0, "{report:#}");
        let bytes = number(&sent["messages_per_second"]) * number(&result["bytes"]);
        assert!((number(&sent["bytes_per_second"]) / bytes - 1.0).abs() < 1e-9, "{report:#}");
        let us = &result["us"];
        if us.is_null() {
            continue;
        }
        let quantiles = ["min", "p50", "p90", "p99", "p999", "p9999", "p99999", "max"].map(|name| number(&us[name]));
        assert!(quantiles[0] > 0.0 && quantiles.is_sorted(), "{us}");
    }
}

#[test]
fn each_transport_has_its_operations() {
    for (verb, services) in [
        ("send", &["RC", "UC", "UD", "DC", "XRC"][..]),
        ("write", &["RC", "UC", "DC", "XRC"]),
        ("read", &["RC", "DC", "XRC"]),
        ("atomic", &["RC", "DC", "XRC"]),
    ] {
        for service in services {
            for figure in ["lat", "bw", "rate"] {
                let arguments = format!("{verb} {figure} -c {service} -n 60");
                let size = if verb == "atomic" { "" } else { " -s 700" };
                let report = local(&format!("{arguments}{size}"));
                assert_eq!(report["title"], format!("{verb} {figure} over {service}"));
                check(&report, 60);
                let result = &report["results"][0];
                // Times of the way, and the cost of posting, are where they are asked for.
                assert_eq!(result["posting"].is_null(), figure != "rate", "{report:#}");
                assert!(verb != "send" || result["lost"] == 0, "{report:#}");
            }
        }
    }
    let swap = local("atomic bw -A CMP_AND_SWAP -n 60");
    check(&swap, 60);
}

#[test]
fn what_a_transport_lacks_is_named() {
    for (arguments, told) in [
        ("read lat -c UC", "UC has no read: choose -c RC, DC, XRC"),
        ("write bw -c UD", "UD has no write: choose -c RC, UC, DC, XRC"),
        ("frame lat -c RC", "RC has no frame: choose -c RawEth"),
        ("send lat -q 2", "a thread has one queue"),
        ("send bw -q 3 --threads 2", "2 threads cannot share 3 queues evenly"),
        ("atomic bw -s 16", "an atomic has 8 bytes, not 16"),
        ("send bw -D 2 -f 1", "--margin"),
        ("send bw --rate 0", "--rate"),
    ] {
        let output = perf(&format!("{arguments} --local"));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(text(&output.stderr).contains(told), "{arguments}: {}", text(&output.stderr));
    }
}

/// perftest's options, and whether perftest is the server.
const PERFTEST: &[(&str, &str, bool)] = &[
    ("send lat", "-n 60", true),
    ("send lat", "-n 60 -c UD -s 500", false),
    ("send bw", "-n 60 -c UC -s 3000", true),
    ("send bw", "-n 60 -b", false),
    ("send bw", "-n 5 -a", true),
    ("write lat", "-n 60 -s 1000", true),
    ("write lat", "-n 60 -c UC", false),
    ("write bw", "-n 60 -q 4", true),
    ("write bw", "-n 5 -a", false),
    ("read lat", "-n 60", false),
    ("read bw", "-n 60 -q 2", true),
    ("atomic lat", "-n 60", true),
    ("atomic bw", "-n 60", false),
    ("send bw", "-n 60 -c DC -b -q 2", true),
    ("write lat", "-n 60 -c DC -s 1000", true),
    ("write bw", "-n 60 -c DC -q 4", false),
    ("read lat", "-n 60 -c DC", true),
    ("atomic bw", "-n 60 -c DC", true),
    ("send bw", "-n 60 -c XRC -b -q 2", false),
    ("write bw", "-n 60 -c XRC", true),
    ("read bw", "-n 60 -c XRC -q 2", true),
    ("atomic lat", "-n 60 -c XRC", true),
];

/// Each of them, against the installed programs.
#[test]
fn perftest_may_be_the_server() {
    against_perftest(true);
}

#[test]
fn perftest_may_be_the_client() {
    against_perftest(false);
}

/// Those whose server, or whose client, is perftest's.
fn against_perftest(is_server: bool) {
    for &(what, arguments, _) in PERFTEST.iter().filter(|(.., served)| *served == is_server) {
        let network = Network::new();
        let messages: u32 = if arguments.contains("-a") { 5 } else { 60 };
        let theirs = format!("ib_{}", what.replace(' ', "_"));
        let options = format!("{arguments} -F");
        // All queues in two threads: perftest does not know.
        let threads = if arguments.contains("-q") { " --threads 2" } else { "" };
        let ours = format!("perf {what} {arguments}{threads} --json -");
        let (them, us) = if is_server {
            let [them, us] = network.pair((&theirs, &options), (BLUEFLAME, &ours));
            (them, us)
        } else {
            let [us, them] = network.pair((BLUEFLAME, &ours), (&theirs, &options));
            (them, us)
        };
        let output = text(&them.stdout);
        assert_eq!(them.status.code(), Some(0), "{what} {arguments}: {output}{}", text(&them.stderr));
        let report = report(&us);
        assert_eq!(report["peer"], "perftest, exchange 6.06", "{what}");
        // perftest's rows: bytes, messages, and its figures.
        let is_row = |line: &&str| {
            let numbers: Vec<f64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
            numbers.len() > 3 && numbers[1] >= f64::from(messages)
        };
        let rows = output.lines().filter(is_row).count();
        let sizes = if arguments.contains("-a") { 23 } else { 1 };
        let passive = what == "read lat" || what == "atomic lat";
        assert!(rows >= sizes || is_server && passive, "{what} {arguments}: {output}");
        if is_server {
            let queues = if arguments.contains("-q 4") {
                4
            } else if arguments.contains("-q 2") {
                2
            } else {
                1
            };
            // There is one time less than there are messages, where perftest's server begins.
            let count = if what == "write lat" { messages - 1 } else { messages * queues };
            check(&report, count.into());
            assert_eq!(report["results"].as_array().map(Vec::len), Some(sizes), "{report:#}");
        }
    }
}

#[test]
fn perftest_is_told_what_it_cannot_do() {
    let network = Network::new();
    let refused = |server: &str, theirs: &str, told: &str| {
        let [ours, _] = network.pair((BLUEFLAME, server), (theirs, "-n 60 -F"));
        assert_eq!(ours.status.code(), Some(1));
        assert!(text(&ours.stderr).contains(told), "{}", text(&ours.stderr));
    };
    refused("perf send bw --warm-up 10", "ib_send_bw", "--warm-up has no place");
    refused("perf write lat --warm-up 10", "ib_write_lat", "--warm-up has no place");
}

#[test]
fn a_server_takes_the_options_of_its_client() {
    let network = Network::new();
    let client = "perf write bw -c UC -s 100 -n 300 --warm-up 20 -q 4 --threads 2 -b --json -";
    let client = client.replace(" --warm-up 20 ", " ");
    let [server, client] = network.pair((BLUEFLAME, "perf write bw --json -"), (BLUEFLAME, &client));
    let (server, client) = (report(&server), report(&client));
    check(&client, 1200);
    // Both ways: the server has sent as much.
    check(&server, 1200);
    assert_eq!((&server["title"], &server["role"]), (&"write bw over UC".into(), &"server".into()));
    assert_eq!(client["peer"], "blueflame");
    let warm = local("send bw -n 100 --warm-up 50 -s 64");
    check(&warm, 100);
    // Another operation cannot be taken.
    let [server, client] = network.pair((BLUEFLAME, "perf write bw"), (BLUEFLAME, "perf send lat"));
    assert_eq!((server.status.code(), client.status.code()), (Some(1), Some(1)));
    assert!(text(&client.stderr).contains("this end measures send lat, the peer write bw"), "{client:?}");
}

/// A client of our own making: the bytes of the exchange (`meeting.rs`) as written out there.
struct Forger {
    stream: TcpStream,
    server: Child,
}

impl Forger {
    /// Begins the exchange, with a page of these bytes; the plan comes next.
    fn begin(network: &Network, page: u32) -> Self {
        let port = free_port();
        let server = network.server(BLUEFLAME, "perf write bw", port);
        let mut stream = TcpStream::connect(("localhost", port)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time");
        let mtu = [b'5', 0];
        for part in [&b"6.06\0blueflame\0\0"[..], &page.to_be_bytes(), &64_u32.to_be_bytes(), &mtu] {
            // A server that refuses a part has left.
            if stream.write_all(part).and_then(|()| stream.read_exact(&mut vec![0; part.len()])).is_err() {
                break;
            }
        }
        Self { stream, server }
    }

    fn plan(&mut self, plan: &Value) {
        let text = plan.to_string();
        let line = [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
        self.stream.write_all(&line).expect("the server reads");
    }

    /// The server's exit code, its errors, and the time that it took from now.
    fn end(self) -> (Option<i32>, String, Duration) {
        let begin = Instant::now();
        let output = self.server.wait_with_output().expect("ends");
        (output.status.code(), text(&output.stderr), begin.elapsed())
    }
}

/// Neither a server, which would wait for its client, nor a client, which would look for its server.
#[test]
fn no_end_meets_another_without_its_device() {
    for arguments in ["", "localhost", "--local"] {
        let port = free_port();
        let output = perf(&format!("send lat -d mlx5_99 -p {port} {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}: {output:?}");
        assert!(text(&output.stderr).contains("no RDMA device is called \"mlx5_99\""), "{arguments}: {output:?}");
    }
}

#[test]
fn a_server_checks_the_plan_of_its_client() {
    let network = Network::new();
    let good = local("write bw -n 10")["plan"].clone();
    let most = u64::MAX;
    let endless = json!({"secs": most, "nanos": 0});
    for (changes, told) in [
        (json!({"threads": 0}), "--threads: 0 is not from 1 to 1024"),
        (json!({"queues": 1, "threads": 2}), "2 threads cannot share 1 queues evenly"),
        (json!({"queues": 0}), "-q: 0 is not from 1 to 16384"),
        (json!({"queues": most, "threads": 1}), "-q: 18446744073709551615 is not from 1 to 16384"),
        (json!({"sizes": [0]}), "a message cannot have 0 bytes"),
        (json!({"sizes": []}), "number of sizes: 0 is not from 1 to 64"),
        (
            json!({"sizes": [1 << 30], "queues": 16}),
            "bytes of the messages of all queues (-s, -q): 34359738368 is not from 0 to 17179869184",
        ),
        (json!({"limit": {"messages": 0}}), "-n: 0 is not from 1 to 281474976710656"),
        (json!({"limit": {"messages": most}}), "-n: 18446744073709551615 is not from 1 to"),
        (json!({"limit": {"time": endless}, "margin": endless}), "-D: not from 0 to 1000000 seconds"),
        (json!({"margin": endless}), "-D: not from 0 to 1000000 seconds"),
        (json!({"warm_up": most}), "--warm-up: 18446744073709551615 is not from 0 to"),
        (json!({"service": "Ud"}), "UD has no write"),
    ] {
        let mut plan = good.clone();
        plan.as_object_mut().expect("a plan").extend(changes.as_object().expect("changes").clone());
        let mut client = Forger::begin(&network, 4096);
        client.plan(&plan);
        let (code, said, took) = client.end();
        assert_eq!(code, Some(1), "{changes}: {said}");
        assert!(said.contains(&format!("the peer's plan: {told}")), "{changes}: {said}");
        assert!(took < PATIENCE, "{changes}: {took:?}");
    }
    // A good one goes on: the server ends because this client leaves.
    let mut client = Forger::begin(&network, 4096);
    client.plan(&good);
    client.stream.shutdown(Shutdown::Write).expect("a stream");
    let (code, said, _) = client.end();
    assert!(code == Some(1) && said.contains("the peer has left"), "{code:?}: {said}");
    let (code, said, _) = Forger::begin(&network, u32::MAX).end();
    assert!(code == Some(1) && said.contains("the peer's page has 4294967295 bytes; 262144 is the most"), "{said}");
}

/// Each byte comes long before the time of a silent peer is over: twenty seconds for all of them.
#[test]
fn a_client_that_dribbles_has_no_more_time_than_a_silent_one() {
    let (network, port) = (Network::new(), free_port());
    let server = network.server(BLUEFLAME, "perf send lat", port);
    let mut stream = TcpStream::connect(("localhost", port)).expect("the server listens");
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(move || {
            // The first 16 of these make the version. The server has left before the last one.
            for byte in b"6.06\0blueflame\0\0".iter().chain(&[0; 60]) {
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                thread::sleep(Duration::from_secs(2));
            }
        });
        let output = server.wait_with_output().expect("ends");
        let took = begin.elapsed();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains("says nothing, or too little"), "{}", text(&output.stderr));
        assert!((18..28).contains(&took.as_secs()), "{took:?}");
    });
}

#[test]
fn a_rate_is_kept_and_times_count_from_it() {
    let begin = Instant::now();
    let report = local("send lat --rate 200 -n 100");
    let took = begin.elapsed();
    check(&report, 100);
    let result = &report["results"][0];
    let rate = number(&result["sent"]["messages_per_second"]);
    // The rate counts from the first message, which may be late; the next ones keep to the schedule.
    assert!((1.0..=300.0).contains(&rate) && took >= Duration::from_millis(490), "{rate} in {took:?}");
    let of = |kind: &str, name: &str| number(&result[kind][name]);
    for name in ["p50", "max", "mean"] {
        assert!(of("corrected_us", name) >= of("us", name), "{result:#}");
    }
    assert!(report["omission"].as_str().is_some_and(|told| told.contains("should have gone")), "{report:#}");
    // Faster than the device: the queue of messages that wait grows, and only corrected times tell.
    let report = local("send lat --rate 1000000 -n 300");
    let result = &report["results"][0];
    let of = |kind: &str, name: &str| number(&result[kind][name]);
    assert!(of("corrected_us", "p50") > 10.0 * of("us", "p50"), "{result:#}");
}

#[test]
fn time_is_cut_into_intervals() {
    let report = local("write bw -s 512 -D 0.8 -f 0.1 --interval 0.2 --threads 2");
    let result = &report["results"][0];
    let seconds: Vec<f64> = result["series"].as_array().expect("lines").iter().map(|l| number(&l["seconds"])).collect();
    // On a busy machine, threads may sleep through an interval.
    assert!((2..=4).contains(&seconds.len()) && seconds.is_sorted(), "{seconds:?}");
    assert!(seconds.iter().all(|end| (end / 0.2 - (end / 0.2).round()).abs() < 1e-6), "{seconds:?}");
    // Each thread has its own 0.6 seconds.
    assert!((0.1..=1.0).contains(&number(&result["sent"]["seconds"])), "{result:#}");
    // The intervals have the margins, too.
    let of_series: f64 = result["series"].as_array().expect("lines").iter().map(|l| number(&l["sent"])).sum();
    assert!(of_series >= number(&result["sent"]["messages"]), "{of_series}: {result:#}");
}

/// Each size posts fewer messages than ask for one completion, and all sizes together more than the queue holds.
#[test]
fn many_sizes_of_few_messages_fit_the_queue() {
    let report = local("send lat -a -n 3");
    check(&report, 3);
    assert_eq!(report["results"].as_array().map(Vec::len), Some(23), "{report:#}");
}

#[test]
fn lost_datagrams_are_counted() {
    // Two receives are too few for 128 datagrams on their way.
    let report = local("send bw -c UD -s 64 -n 3000 -r 2");
    check(&report, 3000);
    assert!(number(&report["results"][0]["lost"]) > 0.0, "{report:#}");
}

/// On the slow network (see the header), the peer has sent its last message long before the first one arrives.
#[test]
fn messages_on_their_way_are_waited_for() {
    let network = Network::new();
    let is_ethernet = std::env::var("SOFTHCA_LINK").is_ok_and(|link| link == "ethernet");
    for run in ["perf send bw -c UD", "perf frame bw"] {
        if run == "perf frame bw" && !is_ethernet {
            continue;
        }
        // Fewer than there are receives: none can be lost.
        let [_, client] = network.pair((BLUEFLAME, run), (BLUEFLAME, &format!("{run} -n 100 -s 200 --json -")));
        let report = report(&client);
        check(&report, 100);
        assert_eq!(report["results"][0]["lost"], 0, "{report:#}");
    }
}

#[test]
fn a_peer_that_dies_ends_the_run() {
    dies(|_| thread::sleep(Duration::from_millis(300)));
}

/// Its last message fails, and says less than that the peer is gone.
#[test]
fn a_peer_that_dies_without_an_answer_ends_the_run() {
    dies(|server| {
        thread::sleep(Duration::from_millis(100));
        let id = server.id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &id]).status().expect("starts");
        assert!(stopped.success(), "{stopped}");
        // Less than the time of all retries.
        thread::sleep(Duration::from_millis(50));
    });
}

/// Kills a server after `before`, while its client measures.
fn dies(before: fn(&Child)) {
    let (network, port) = (Network::new(), free_port());
    let mut server = network.server(BLUEFLAME, "perf send lat", port);
    let client = format!("perf send lat -D 30 -p {port} localhost --interval 0.05");
    let client = network.command(BLUEFLAME, &client).spawn().expect("starts");
    let begin = Instant::now();
    while !is_in(ESTABLISHED, port) {
        assert!(begin.elapsed() < PATIENCE, "the client does not come");
        thread::sleep(Duration::from_millis(5));
    }
    before(&server);
    server.kill().expect("a child");
    server.wait().expect("a child");
    let begin = Instant::now();
    let output = client.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stderr).contains("the peer has left"), "{}", text(&output.stderr));
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn files_have_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let files = ["run.json", "run.csv", "run.svg", "run.html"].map(file);
    let [json, csv, svg, html] = &files;
    let output = perf(&format!(
        "send lat -n 200 -s 32 --local --json {json} --csv {csv} --svg {svg} --html {html} --interval 0.01"
    ));
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in ["send lat over RC, client on mlx5_0", "half of the time there and back", "p99.999", "      200 "] {
        assert!(table.contains(part), "no {part:?} in {table}");
    }
    let read = |path: &str| fs::read_to_string(path).expect("a file");
    let report: Value = serde_json::from_str(&read(json)).expect("JSON");
    check(&report, 200);
    let csv = read(csv);
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].len(), rows[1].len());
    assert_eq!(rows[1][..6], ["send", "lat", "RC", "32", "sent", "200"]);
    assert!(read(svg).contains("send lat over RC of 32 bytes"));
    let page = read(html);
    for part in ["<svg", "Results", "Plan", "coordinated omission"] {
        assert!(page.contains(part), "no {part}");
    }
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http"), "nothing outside of the page");
    compare(folder.path(), json);
}

/// Two runs beside each other: the same twice, a worse one, and one of another kind.
fn compare(folder: &Path, run: &str) {
    let changed = |name: &str, change: &dyn Fn(&mut Value)| {
        let mut report: Value = serde_json::from_str(&fs::read_to_string(run).expect("a file")).expect("JSON");
        change(&mut report);
        let path = folder.join(name);
        fs::write(&path, report.to_string()).expect("written");
        path.display().to_string()
    };
    let slow = changed("slow.json", &|report| {
        let p50 = &mut report["results"][0]["us"]["p50"];
        *p50 = (number(p50) * 1.5).into();
    });
    let other = changed("other.json", &|report| report["title"] = "write lat over RC".into());
    let compared = |after: &str, options: &str| {
        let output = perf(&format!("compare {run} {after} {options}"));
        (output.status.code(), text(&output.stdout))
    };
    let (code, table) = compared(run, "");
    assert_eq!(code, Some(0), "{table}");
    assert!(!table.contains("worse") && table.contains("p50, us"), "{table}");
    let (code, table) = compared(&slow, "");
    assert_eq!(code, Some(1), "{table}");
    assert!(table.contains("+50.0 %") && table.contains("worse"), "{table}");
    let (code, json) = compared(&slow, "--within 60 --json");
    assert_eq!(code, Some(0), "{json}");
    assert!(serde_json::from_str::<Value>(&json).is_ok_and(|all| all["changes"][0]["verdict"] == "same"), "{json}");
    assert_eq!(compared(&other, "").0, Some(2));
    assert_eq!(compared("/no/such/file", "").0, Some(2));
}

#[test]
fn ethernet_carries_frames() {
    let network = Network::new();
    for figure in ["lat", "bw", "rate"] {
        // Fewer than there are receives: none can be lost.
        let ends = [format!("perf frame {figure}"), format!("perf frame {figure} -n 100 -s 200 -l 4 --json -")];
        let is_there = std::env::var("SOFTHCA_LINK").is_ok_and(|link| link == "ethernet");
        let [server, client] = network.pair((BLUEFLAME, &ends[0]), (BLUEFLAME, &ends[1]));
        if !is_there {
            assert!(text(&client.stderr).contains("no network interface"), "{client:?}");
            continue;
        }
        let report = report(&client);
        check(&report, 100);
        assert_eq!(report["results"][0]["lost"], 0, "{report:#}");
        assert_eq!(server.status.code(), Some(0), "{server:?}");
    }
}

#[test]
fn ethernet_carries_datagrams_by_gid() {
    check(&local("send bw -c UD -n 100 -s 256"), 100);
    check(&local("write lat -c DC -n 50"), 50);
    check(&local("send bw -c XRC -n 50 -s 256 -b"), 50);
}
