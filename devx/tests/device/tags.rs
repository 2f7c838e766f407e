//! Lists of tagged buffers by commands: the extended receive queue, its context, and messages that match or do not.
//!
//! Tag matching by commands belongs here, by verbs in `tests/verbs/tags.rs`.

use std::time::{Duration, Instant};

use blueflame::queue::tags::{TagError, TagEvent, TagListSizes};
use blueflame::tagged::TagHeader;
use blueflame::types::WrId;
use blueflame::verbs::{Access, Pool};
use blueflame::{transport, wqe};
use blueflame_devx::Error;
use blueflame_devx::object::{OwnedCq, OwnedTagMatching, SharedReceives, Uar};

use crate::end::End;
use crate::ground::ground;

fn event(cq: &mut OwnedCq, list: &mut OwnedTagMatching) -> TagEvent {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut event = None;
        // SAFETY: nothing else completes there; polled once.
        cq.poll_with(1, |cqe| event = Some(unsafe { list.complete(&cqe) }));
        if let Some(event) = event {
            return event.expect("of the list");
        }
        assert!(Instant::now() < deadline, "no completion");
    }
}

#[test]
fn messages_are_compared_with_a_list() {
    let ground = ground();
    let uar = Uar::new(&ground.context).expect("a register");
    let mut cq = ground.rings.completion_queue(uar.page(), 128).build().expect("a completion queue");
    let sizes = TagListSizes { tags: 5, receives: 8, ..TagListSizes::DEFAULT };
    let make = |sizes: &TagListSizes| ground.pd.tag_matching(&ground.rings, &cq, &ground.path, sizes);
    let general = ground.context.general().expect("capabilities");
    if !general.tag_matching() {
        let made = make(&sizes);
        assert!(matches!(made, Err(Error::Capability { name: "cmd_hca_cap.tag_matching", .. })), "{made:?}");
        return;
    }
    let most = 1_u32 << general.log_tag_matching_list_sz();
    for tags in [0, most, 1 << 15] {
        assert!(make(&TagListSizes { tags, ..sizes }).is_err(), "{tags} tags");
    }
    let cqn = cq.cqn();
    let mut list = make(&sizes).expect("a list");
    let context = list.shared_receives().handle().query().expect("QUERY_XRQ");
    assert_eq!((context.topology(), context.cqn()), (1, cqn));
    assert_eq!(context.tag_matching_topology_context().log_matching_list_sz(), 3);

    let memory = Pool::new(&ground.verbs_pd, 4096, Access::ALL).expect("memory").take(4096).expect("all of it");
    let shared = SharedReceives::from(list.shared_receives().handle());
    let receiver_uar = Uar::new(&ground.context).expect("a register");
    let builder = ground.pd.queue_pair::<transport::Rc>(&ground.rings, &cq, &cq);
    let mut receiver = builder.shared_receives(&shared).build_on(receiver_uar).expect("a queue pair");
    let mut peer = End::<transport::Rc>::new(&ground);
    let (here, there) = (receiver.qp.endpoint(&ground.path), peer.pair.qp.endpoint(&ground.path));
    for (pair, local, remote) in [(&mut receiver, here, there), (&mut peer.pair, there, here)] {
        pair.qp.to_init(&ground.path).expect("INIT");
        pair.connect(&ground.path, &local, &remote).expect("RTS");
    }
    let mut batch = list.receives();
    // SAFETY: the memory lives as long as the list, and is looked at after completions.
    unsafe { batch.push_unchecked(WrId(9), &[memory.sge_of(2048..2112)]) }.expect("room");
    batch.ring_doorbell();
    for n in 0..5_u64 {
        let at = n as usize * 64;
        // SAFETY: as above.
        let entry = unsafe { list.append_unchecked(n, u64::MAX, memory.sge_of(at..at + 64), WrId(n)) }.expect("room");
        assert_eq!(event(&mut cq, &mut list), TagEvent::Appended { wr_id: WrId(n), entry, in_step: true });
    }
    // SAFETY: it is refused.
    let full = unsafe { list.append_unchecked(5, u64::MAX, memory.sge_of(0..64), WrId(5)) };
    assert_eq!(full, Err(TagError::ListFull { tags: 5 }));
    let mut send = |tag: u64| {
        let mut message = [tag as u8; 24];
        message[..16].copy_from_slice(&TagHeader::eager(tag).to_bytes());
        peer.post(&wqe::send().inline(&message).signaled(WrId(1)));
        peer.completion();
    };
    for n in [3, 0, 4, 1, 2] {
        send(n);
        match event(&mut cq, &mut list) {
            TagEvent::Matched { wr_id, header, bytes: 8, complete: true, incomplete: false, .. } => {
                assert_eq!((wr_id, header), (WrId(n), Some(TagHeader::eager(n))));
            }
            other => panic!("no match, but {other:?}"),
        }
        let mut found = [0; 8];
        memory.read(n as usize * 64, &mut found);
        assert_eq!(found, [n as u8; 8]);
    }
    send(7);
    assert_eq!(event(&mut cq, &mut list), TagEvent::Unexpected { wr_id: WrId(9), bytes: 24 });
    list.sync().expect("room");
    assert_eq!(event(&mut cq, &mut list), TagEvent::Synced { in_step: true });
    let context = list.shared_receives().handle().query().expect("QUERY_XRQ");
    let tags = context.tag_matching_topology_context();
    assert_eq!((tags.append_next_index(), tags.sw_phase_cnt(), tags.hw_phase_cnt()), (5, 1, 1));
}
