//! Commands between the processes that have one device file. The kernel has one table of objects per file; here the
//! objects are in the process that has opened it. Another process sends it the commands on them.
//!
//! ```text
//!  another process                           the process that has opened the file
//!  registry: "called"       ------------->   a step of the device sees it, and starts a thread
//!  registry: the place      <-------------   the thread listens there
//!  descriptor, command      --- socket -->   carries it out, if the descriptor is of this file
//!  result                   <-- socket ---
//! ```
//!
//! A caller shows that it has the file by sending a descriptor of it. It may send anything else: commands are checked
//! like any others. One that dies has no call left, because each call is a connection of its own.

use super::registry::Registry;
use crate::process::fds::Own;
use crate::process::{Errno, Identity, identity, lock};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, recvmsg, sendmsg,
    shutdown, socket_with,
};
use softhca::runner::spawn;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// How long a caller waits for the process to listen. Its device looks every few milliseconds, if it has any time.
const PATIENCE_TO_LISTEN: Duration = Duration::from_secs(5);
/// How long a caller waits for the result.
const PATIENCE_TO_ANSWER: Duration = Duration::from_secs(20);
/// How long the process waits for a caller that has connected.
const PATIENCE_TO_ASK: Duration = Duration::from_secs(1);
/// The most bytes of a mailbox: an attribute's length has 16 bits.
const MAX_MAILBOX: usize = u16::MAX as usize;
/// Callers that wait at a time. A further one gets `EAGAIN`.
const WAITING: i32 = 64;

/// A command on an object of the process that has opened the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// The object's kind and the method, as in a request (`RDMA_VERBS_IOCTL`).
    pub(crate) method: (u16, u16),
    /// The object.
    pub(crate) handle: u32,
    /// The command's mailbox; empty if it has none.
    pub(crate) input: Vec<u8>,
    /// How much room there is for the answer's mailbox.
    pub(crate) output_len: usize,
}

/// The result of a call: the mailbox, which a command that the device refuses has as well, and the error.
pub(crate) type Answer = (Vec<u8>, Result<(), Errno>);

/// Carries out a call.
type Serve = Box<dyn Fn(Call) -> Answer + Send + Sync>;

/// Before the mailbox of a call.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct CallHeader {
    object: u16,
    method: u16,
    handle: u32,
    output_len: u32,
}

/// Where other processes call.
pub(crate) struct Callers {
    registry: Arc<Registry>,
    file: Identity,
    serve: Serve,
    listener: Mutex<Listener>,
    /// The thread has started, or the file is closed.
    is_over: AtomicBool,
}

/// Where the thread listens.
#[derive(Default)]
struct Listener {
    /// The file is closed.
    is_closed: bool,
    /// Once it listens.
    socket: Option<Arc<(Own, OwnedFd)>>,
}

impl Callers {
    /// Those of `file`, which has this table. Nobody hears them before a step.
    pub(super) fn new(
        registry: Arc<Registry>,
        file: Identity,
        serve: impl Fn(Call) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let (listener, is_over) = (Mutex::default(), AtomicBool::new(false));
        Self { registry, file, serve: Box::new(serve), listener, is_over }
    }

    /// Starts the thread if another process calls. `false`: there is nothing to look for any more.
    pub(super) fn look(self: &Arc<Self>) -> bool {
        if self.is_over.load(Ordering::Relaxed) {
            return false;
        }
        if !self.registry.is_called() {
            return true;
        }
        let callers = self.clone();
        if self.is_over.swap(true, Ordering::Relaxed) {
            return false;
        }
        if let Err(error) = spawn("softhca-calls", move || callers.run()) {
            log::warn!("no thread for calls of other processes: {error}");
        }
        false
    }

    /// The file is closed: the thread ends.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let mut listener = lock(&self.listener);
        listener.is_closed = true;
        self.registry.closes();
        if let Some(socket) = listener.socket.take() {
            // Accepting returns an error from now on.
            let _ = shutdown(&socket.1, Shutdown::Both);
        }
    }

    fn listen(&self) -> Result<Arc<(Own, OwnedFd)>, Errno> {
        let place = fastrand::u64(..);
        let socket = socket()?;
        bind(&socket, &address(place)?)?;
        listen(&socket, WAITING)?;
        let socket = Arc::new((Own::new(&socket), socket));
        let mut listener = lock(&self.listener);
        if listener.is_closed {
            return Err(Errno::ENODEV);
        }
        listener.socket = Some(socket.clone());
        self.registry.listens(place);
        Ok(socket)
    }

    /// Serves callers, one after the other, until the file is closed.
    fn run(&self) {
        let listener = match self.listen() {
            Ok(listener) => listener,
            Err(error) => return log::warn!("other processes with the device file cannot call: {error:?}"),
        };
        while let Ok(caller) = accept_with(&listener.1, SocketFlags::CLOEXEC) {
            let _own = Own::new(&caller);
            if let Err(error) = self.serve_one(&caller) {
                log::info!("a call of another process: {error:?}");
            }
        }
    }

    fn serve_one(&self, caller: &OwnedFd) -> Result<(), Errno> {
        for side in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(caller, side, Some(PATIENCE_TO_ASK))?;
        }
        let (file, call) = receive_call(caller)?;
        let answer = if identity(file.as_raw_fd()) == Some(self.file) {
            (self.serve)(call)
        } else {
            (Vec::new(), Err(Errno::EPERM))
        };
        let error = answer.1.err().map_or(0, |error| error.0);
        let parts = [IoSlice::new(error.as_bytes()), IoSlice::new(&answer.0)];
        sendmsg(caller, &parts, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?;
        Ok(())
    }
}

/// Makes `call`, on an object of the process that has opened `file`, which has this table. `EIO` if it does not answer:
/// it has ended, or runs another program.
pub(super) fn call(registry: &Registry, file: BorrowedFd<'_>, call: &Call) -> Result<Answer, Errno> {
    let begin = Instant::now();
    let place = loop {
        if let Some(place) = registry.listener()? {
            break place;
        }
        if begin.elapsed() > PATIENCE_TO_LISTEN {
            return Err(Errno::EIO);
        }
        registry.call();
        std::thread::sleep(Duration::from_micros(200));
    };
    let socket = socket()?;
    let _own = Own::new(&socket);
    set_socket_timeout(&socket, Timeout::Send, Some(PATIENCE_TO_ASK))?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE_TO_ANSWER))?;
    connect(&socket, &address(place)?).map_err(|_| Errno::EIO)?;
    send_call(&socket, file, call)?;
    let mut error = 0_i32;
    let mut output = vec![0; call.output_len];
    let parts = &mut [IoSliceMut::new(error.as_mut_bytes()), IoSliceMut::new(&mut output)];
    let received =
        recvmsg(&socket, parts, &mut RecvAncillaryBuffer::default(), RecvFlags::empty()).map_err(|_| Errno::EIO)?.bytes;
    output.truncate(received.checked_sub(size_of_val(&error)).ok_or(Errno::EIO)?);
    Ok((output, if error == 0 { Ok(()) } else { Err(Errno(error)) }))
}

fn socket() -> Result<OwnedFd, Errno> {
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// The place of this number: a name that no file system has, in the network namespace.
fn address(place: u64) -> Result<SocketAddrUnix, Errno> {
    Ok(SocketAddrUnix::new_abstract_name(format!("softhca-uverbs-{place:016x}").as_bytes())?)
}

fn send_call(socket: &OwnedFd, file: BorrowedFd<'_>, call: &Call) -> Result<(), Errno> {
    let (object, method) = call.method;
    let header = CallHeader { object, method, handle: call.handle, output_len: call.output_len as u32 };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = [file];
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(Errno::EIO);
    }
    let parts = [IoSlice::new(header.as_bytes()), IoSlice::new(&call.input)];
    sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL).map_err(|_| Errno::EIO)?;
    Ok(())
}

/// The call that `caller` sends, and the file that it shows. Other descriptors that it sends are closed.
fn receive_call(caller: &OwnedFd) -> Result<(OwnedFd, Call), Errno> {
    let mut header = CallHeader::new_zeroed();
    let mut input = vec![0; MAX_MAILBOX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let parts = &mut [IoSliceMut::new(header.as_mut_bytes()), IoSliceMut::new(&mut input)];
    let received = recvmsg(caller, parts, &mut control, RecvFlags::CMSG_CLOEXEC)?.bytes;
    input.truncate(received.checked_sub(size_of_val(&header)).ok_or(Errno::EINVAL)?);
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let file = files.last().ok_or(Errno::EPERM)?;
    let CallHeader { object, method, handle, output_len } = header;
    let output_len = usize::try_from(output_len).ok().filter(|len| *len <= MAX_MAILBOX).ok_or(Errno::EINVAL)?;
    Ok((file, Call { method: (object, method), handle, input, output_len }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::socketpair;
    use softhca::uar::UarMemory;
    use std::os::fd::{AsFd, FromRawFd};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn a_call_arrives_as_it_was_made() {
        let (caller, callee) = pair();
        for input in [Vec::new(), vec![7; MAX_MAILBOX]] {
            let call = Call { method: (0x1001, 0x1003), handle: 5, input, output_len: MAX_MAILBOX };
            send_call(&caller, callee.as_fd(), &call).unwrap();
            let (file, received) = receive_call(&callee).unwrap();
            assert_eq!((identity(file.as_raw_fd()), received), (identity(callee.as_raw_fd()), call));
        }
    }

    #[test]
    fn only_who_has_the_file_is_served() {
        // SAFETY: the name is a string that ends with a zero byte; the descriptors are new.
        let memory = || unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"calls".as_ptr(), 0)) };
        let (file, other) = (memory(), memory());
        let registry = Arc::new(Registry::of(&UarMemory::in_file(file.try_clone().unwrap())).unwrap());
        let callers = Arc::new(Callers::new(registry.clone(), identity(file.as_raw_fd()).unwrap(), |call| {
            (call.input, if call.handle == 1 { Ok(()) } else { Err(Errno::ENOENT) })
        }));
        let make = |file: &OwnedFd, handle| {
            let made = Call { method: (1, 2), handle, input: vec![3], output_len: 16 };
            std::thread::scope(|scope| {
                let result = scope.spawn(|| call(&registry, file.as_fd(), &made));
                while !result.is_finished() {
                    callers.look();
                    std::thread::yield_now();
                }
                result.join().unwrap()
            })
        };
        assert_eq!(make(&file, 1), Ok((vec![3], Ok(()))));
        assert_eq!(make(&file, 2), Ok((vec![3], Err(Errno::ENOENT))));
        assert_eq!(make(&other, 1), Ok((Vec::new(), Err(Errno::EPERM))));
        callers.end();
        assert_eq!(make(&file, 1), Err(Errno::EIO));
    }

    #[test]
    fn calls_that_no_caller_makes_are_refused() {
        let (caller, callee) = pair();
        let send = |bytes: &[u8]| {
            sendmsg(&caller, &[IoSlice::new(bytes)], &mut SendAncillaryBuffer::default(), SendFlags::empty()).unwrap()
        };
        send(&[0; 3]);
        assert_eq!(receive_call(&callee).err(), Some(Errno::EINVAL), "too short");
        send(&[0; 64]);
        assert_eq!(receive_call(&callee).err(), Some(Errno::EPERM), "without the file");
        let long = Call { method: (0, 0), handle: 0, input: Vec::new(), output_len: MAX_MAILBOX + 1 };
        send_call(&caller, callee.as_fd(), &long).unwrap();
        assert_eq!(receive_call(&callee).err(), Some(Errno::EINVAL), "more room than an attribute has");
        drop(caller);
        assert!(receive_call(&callee).is_err(), "nothing");
    }
}
