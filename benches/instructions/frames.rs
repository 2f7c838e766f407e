//! The counted cases of a striding receive queue: frames of 60 bytes in one stride each.
use blueflame::cq::CompletionQueue;
use blueflame::cq::compressed::ChecksumStride;
use blueflame::cq::mode::{Compressed, PollMode};
use blueflame::queue::striding::StridingRecvQueue;

use crate::case::{Case, case};
use crate::hot::{self, Completed};
use crate::memory::ENTRIES;
use crate::striding::{CQES, FRAME_BYTES, Form, Rig, SESSION, compressed};

/// Queues, and the fields of the frames.
type State<M> = (CompletionQueue<M>, StridingRecvQueue, Completed);

/// Queues whose first session is received: it opens the WQE, which the others need not.
fn opened<M: PollMode>(
    (mut cq, mut rq): (CompletionQueue<M>, StridingRecvQueue),
    receive: fn(&mut CompletionQueue<M>, &mut StridingRecvQueue, &mut Completed) -> usize,
) -> State<M> {
    let mut done = Completed::default();
    assert_eq!(receive(&mut cq, &mut rq, &mut done), SESSION);
    assert_eq!((done.failed, done.sum), (0, SESSION as u64 * u64::from(FRAME_BYTES)));
    (cq, rq, done)
}

fn plain() -> State<blueflame::cq::mode::Standard> {
    let mut rig = Rig::new(Form::Plain);
    let queues = rig.queues();
    rig.fill();
    opened(queues, hot::called::receive_frames)
}

fn packed() -> State<Compressed<ChecksumStride>> {
    let mut rig = Rig::new(Form::Compressed);
    let (cq, rq) = rig.queues();
    rig.fill();
    opened((compressed(cq), rq), hot::called::receive_frames_compressed)
}

/// Every case.
pub(crate) fn cases() -> Vec<Case> {
    const { assert!(CQES == ENTRIES && SESSION == 16) };
    vec![
        case!("receive frames plain", 16, plain, receive_frames, |state, _n, receive| {
            receive(&mut state.0, &mut state.1, &mut state.2);
        }),
        case!(
            "receive frames plain, with completions",
            16,
            plain,
            receive_frames_and_completions,
            |state, _n, receive| {
                receive(&mut state.0, &mut state.1, &mut state.2);
            }
        ),
        case!("receive frames compressed", 16, packed, receive_frames_compressed, |state, _n, receive| {
            receive(&mut state.0, &mut state.1, &mut state.2);
        })
        .goal(16 * 30),
    ]
}
