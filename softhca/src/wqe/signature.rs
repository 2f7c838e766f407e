//! Signatures of WQEs: one byte that makes the XOR of all bytes 255 (rdma-core `providers/mlx5/mlx5.h`, `calc_sig`).

use super::fault::WqeFault;
use super::segments::DATA_SEG_BYTES;
use super::segments::control;

/// Where a receive WQE has its signature, in a segment of 16 bytes in front of its list (`struct mlx5_rwqe_sig`).
const RECEIVE: usize = 4;
/// Bytes of that segment.
pub(crate) const RECEIVE_BYTES: usize = 16;

fn xor(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum ^ byte)
}

/// Checks the signature of a send WQE: over all of its bytes.
pub(super) fn check_send(wqe: &[u8]) -> Result<(), WqeFault> {
    let found = wqe[control::SIGNATURE];
    let expected = !(xor(wqe) ^ found);
    if found == expected { Ok(()) } else { Err(WqeFault::BadSignature { found, expected }) }
}

/// The XOR of an index's bytes: all that a signature tells of it.
pub(crate) fn of_index(index: u16) -> u8 {
    xor(&index.to_be_bytes())
}

/// Checks the signature of a receive WQE with `segments` data segments. It covers the WQE up to the last entry that the
/// driver was given, the queue pair's number, and an index: `indices` are the [XORs](of_index) of those that it can be,
/// its own first. Leaves those that it is by one reading or another.
///
/// How many entries were given is not in the WQE: those of no bytes are left out, and then what ends the list is
/// covered, too.
pub(crate) fn check_receive(wqe: &[u8], segments: usize, qpn: u32, indices: &mut Vec<u8>) -> Result<(), WqeFault> {
    let found = wqe[RECEIVE];
    let end = (RECEIVE_BYTES + segments * DATA_SEG_BYTES).min(wqe.len());
    let sum = |end: usize, index: u8| !(xor(&wqe[..end]) ^ found ^ xor(&qpn.to_be_bytes()) ^ index);
    let expected = sum(end, indices.first().copied().unwrap_or(0));
    let covers = [end, (end + DATA_SEG_BYTES).min(wqe.len())];
    indices.retain(|&index| covers.iter().any(|&end| sum(end, index) == found));
    if indices.is_empty() { Err(WqeFault::BadSignature { found, expected }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QPN: u32 = 0x01_2345;

    /// A receive WQE of one entry and the end mark, in 48 bytes, with the signature of `entries` for `index`.
    fn receive(entries: usize, index: u16) -> [u8; 48] {
        let mut wqe = [0; 48];
        wqe[16..32].copy_from_slice(&[0, 0, 0, 9, 0, 0, 0x18, 7, 0, 0, 0, 0, 0, 0, 0x10, 0x30]);
        wqe[32..48].copy_from_slice(&[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        let numbers = [QPN.to_le_bytes().to_vec(), index.to_le_bytes().to_vec()].concat();
        // As three complements, of the WQE, of the number and of the index.
        wqe[RECEIVE] = !wqe[..16 * (entries + 1)].iter().chain(&numbers).fold(0, |sum, byte| sum ^ byte);
        wqe
    }

    #[test]
    fn receives_have_their_own_index_or_that_of_their_chain() {
        for (entries, index) in [(1, 7), (1, 0x1020), (2, 7), (2, 0x1020)] {
            let wqe = receive(entries, index);
            let mut indices = vec![7, 0x10 ^ 0x20];
            assert_eq!(check_receive(&wqe, 1, QPN, &mut indices), Ok(()));
            assert_eq!(indices, [of_index(index)]);
            for at in 0..32 {
                let mut bad = wqe;
                bad[at] ^= 0x40;
                assert!(check_receive(&bad, 1, QPN, &mut vec![7, 0x30]).is_err(), "byte {at}");
            }
        }
        // An end mark that is covered is the same as an index that is another by one.
        let mut indices = vec![6, 7];
        assert_eq!(check_receive(&receive(1, 7), 1, QPN, &mut indices), Ok(()));
        assert_eq!(indices, [6, 7]);
        let strange = receive(1, 9);
        assert!(matches!(check_receive(&strange, 1, QPN, &mut vec![7, 0x30]), Err(WqeFault::BadSignature { .. })));
        assert!(check_receive(&receive(1, 7), 1, QPN ^ 2, &mut vec![7]).is_err());
    }
}
