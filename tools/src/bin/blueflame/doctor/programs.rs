//! Programs of rdma-core and perftest on the same port, each as server and as client.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use blueflame::transport::Rc;
use blueflame::{WrId, wqe};

use super::check::Check;
use super::found::{Failure, Seen, ensure, in_time};
use super::lab::{End, Lab, connected};
use crate::machine;
use crate::need::Need;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "programs.pingpong",
        title: "rdma-core's ibv_rc_pingpong and ibv_ud_pingpong exchange messages",
        fault: "These programs know nothing of this crate: the cause is the driver, the firmware, or the port's \
                address.",
        needs: &[Need::Link, Need::Address, Need::Pingpong],
        run: pingpong,
    },
    Check {
        id: "programs.latency",
        title: "perftest's ib_send_lat, beside the same messages by this crate",
        fault: "perftest knows nothing of this crate: the cause is the driver, the firmware, or the port's address.",
        needs: &[Need::Link, Need::Address, Need::Perftest],
        run: latency,
    },
];

/// Messages of a program.
const MESSAGES: usize = 1000;
/// Bytes of a message, as perftest has it.
const BYTES: usize = 2;

fn pingpong(lab: &Lab) -> Result<Seen, Failure> {
    let gid = lab.subject.gid.map_or_else(Vec::new, |gid| vec!["-g".to_owned(), gid.to_string()]);
    for program in machine::PINGPONG {
        // The server looks at the bytes, and says so.
        let [server, _] = pair(lab, program, &[gid.clone(), words("-c -n 200 -s 1024")].concat())?;
        ensure(!server.contains("invalid data"), || format!("{program}: {}", words(&server).join(" ")))?;
    }
    Ok(Seen::new("200 messages of 1024 bytes there and back, by each program"))
}

fn latency(lab: &Lab) -> Result<Seen, Failure> {
    let gid = lab.subject.gid.map_or_else(Vec::new, |gid| vec!["-x".to_owned(), gid.to_string()]);
    let [_, client] = pair(lab, machine::PERFTEST, &[gid, words(&format!("-F -n {MESSAGES}"))].concat())?;
    let theirs = typical(&client).ok_or_else(|| format!("perftest printed no latency: {}", client.trim()))?;
    let ours = own(lab)?;
    Ok(Seen::new(format!("{MESSAGES} messages of {BYTES} bytes by perftest, and by this crate"))
        .figure("one way, by perftest (t_typical)", format!("{theirs:.2} us"))
        .figure("one way, by this crate in one thread (median)", format!("{:.2} us", ours.as_secs_f64() * 1e6)))
}

/// Half of the median time there and back, by one thread for both ends.
fn own(lab: &Lab) -> Result<Duration, Failure> {
    let (mut near, mut far) = connected::<Rc>(lab)?;
    let mut times = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        let begin = Instant::now();
        message(lab, &mut near, &mut far)?;
        message(lab, &mut far, &mut near)?;
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    Ok(times[MESSAGES / 2] / 2)
}

fn message(lab: &Lab, from: &mut End<Rc>, to: &mut End<Rc>) -> Result<(), Failure> {
    to.receive(WrId(1), 0..64)?;
    from.post(&wqe::send().inline(&[0_u8; BYTES]).signaled(WrId(2)))?;
    to.received(lab, "a message")?;
    from.sent(lab, "a SEND").map(drop)
}

/// The column `t_typical` of perftest's table, in microseconds.
fn typical(printed: &str) -> Option<f64> {
    let mut lines = printed.lines().skip_while(|line| !line.contains("t_typical"));
    let column = lines.next()?.split_whitespace().position(|name| name.starts_with("t_typical"))?;
    lines.next()?.split_whitespace().nth(column)?.parse().ok()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Runs both ends of a program on the port, and returns the words of server and client.
fn pair(lab: &Lab, program: &str, arguments: &[String]) -> Result<[String; 2], Failure> {
    // Free until the server takes it, unless another program is faster.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let start = |host: Option<&str>| -> Result<Running, Failure> {
        let mut command = Command::new(program);
        command.args(["-d", lab.device().name(), "-p", &port.to_string(), "-i", &lab.subject.port.number.to_string()]);
        command.args(arguments).args(host);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Running(command.spawn().map_err(|error| format!("{program}: {error}"))?))
    };
    let mut server = start(None)?;
    let begin = Instant::now();
    let client = loop {
        let (done, text) = start(Some("127.0.0.1"))?.end(lab.patience, program)?;
        // The server may not listen yet.
        if done.success() || begin.elapsed() > lab.patience || server.has_ended()? {
            ensure(done.success(), || format!("{program}, the client: {done}: {}", words(&text).join(" ")))?;
            break text;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let (done, text) = server.end(lab.patience, program)?;
    ensure(done.success(), || format!("{program}, the server: {done}: {}", words(&text).join(" ")))?;
    Ok([text, client])
}

/// A program, which ends with this value at the latest.
struct Running(Child);

impl Running {
    fn has_ended(&mut self) -> Result<bool, Failure> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Waits, and returns its status and all that it has printed, which is less than a pipe holds.
    fn end(mut self, patience: Duration, program: &str) -> Result<(ExitStatus, String), Failure> {
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.0.try_wait()? {
                break status;
            }
            in_time(begin.elapsed() < patience, || format!("{program} has not ended within {patience:?}"))?;
            thread::sleep(Duration::from_millis(1));
        };
        let mut text = String::new();
        if let (Some(out), Some(err)) = (&mut self.0.stdout, &mut self.0.stderr) {
            out.read_to_string(&mut text)?;
            err.read_to_string(&mut text)?;
        }
        Ok((status, text))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_is_in_the_column_of_its_name() {
        let printed = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n \
                       2       1000          2.91           24.35        3.06     \t       3.15\n";
        assert_eq!(typical(printed), Some(3.06));
        assert_eq!(typical("Couldn't connect"), None);
    }
}
