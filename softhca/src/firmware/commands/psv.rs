//! Signature values (PSVs), which formats of memory keys name.

use crate::error::Object;
use crate::firmware::call::{Call, Command, bare_out, command};
use crate::firmware::layout::layout;
use crate::firmware::status::Refusal;

layout! {
    struct create_psv_in: query { NUM_PSV: 0x40, 4; PD: 0x48, 24; }
    struct create_psv_out: answer 0x20 bytes {
        PSV0_INDEX: 0x88, 24;
        PSV1_INDEX: 0xa8, 24;
        PSV2_INDEX: 0xc8, 24;
        PSV3_INDEX: 0xe8, 24;
    }
    struct destroy_psv_in: query { PSVN: 0x48, 24; }
}

pub(super) const COMMANDS: &[Command] = &[
    command!(0x600, "CREATE_PSV", create_psv_in, create_psv_out, create),
    command!(0x601, "DESTROY_PSV", destroy_psv_in, bare_out, destroy),
];

fn create(call: &mut Call<'_>) -> Result<(), Refusal> {
    let pd = call.usable(Object::Pd, create_psv_in::PD)?;
    let places = [
        create_psv_out::PSV0_INDEX,
        create_psv_out::PSV1_INDEX,
        create_psv_out::PSV2_INDEX,
        create_psv_out::PSV3_INDEX,
    ];
    let count = call.input.get(create_psv_in::NUM_PSV) as usize;
    let Some(places) = places.get(..count).filter(|places| !places.is_empty()) else {
        return Err(Refusal::parameter(format!("{count} signature values at once; 1 to 4")));
    };
    for (number, place) in call.device.create_psvs(pd, places.len())?.into_iter().zip(places) {
        call.created(Object::Psv, number);
        call.output.set(*place, number.into());
    }
    Ok(())
}

fn destroy(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.destroy(Object::Psv, destroy_psv_in::PSVN, |device, number| device.destroy_psv(number))
}

#[cfg(test)]
mod tests {
    use crate::firmware::Status;
    use crate::firmware::test_bench::Bench;

    #[test]
    fn one_to_four_values_are_made_at_once() {
        let mut bench = Bench::new();
        assert!(bench.execute(&[8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0x10).is_ok(), "PD 1");
        let create = |count: u8, pd: u8| [6, 0, 0, 0, 0, 0, 0, 0, count << 4, 0, 0, pd, 0, 0, 0, 0];
        for count in [0, 5, 15] {
            assert_eq!(bench.execute(&create(count, 1), 0x20), Err(Status::BadParameter), "{count}");
        }
        assert_eq!(bench.execute(&create(1, 2), 0x20), Err(Status::BadResource), "no such PD");
        for count in 1..=4 {
            let made = bench.execute(&create(count, 1), 0x20).expect("values");
            let numbers: Vec<&[u8]> = made[0x10..].chunks(4).map(|word| &word[1..]).collect();
            assert!(numbers.iter().take(count.into()).all(|&number| number != [0; 3]), "{numbers:x?}");
            assert!(numbers.iter().skip(count.into()).all(|&number| number == [0; 3]), "{numbers:x?}");
            for number in numbers.into_iter().take(count.into()) {
                let destroy = [6, 1, 0, 0, 0, 0, 0, 0, 0, number[0], number[1], number[2], 0, 0, 0, 0];
                assert!(bench.execute(&destroy, 0x10).is_ok());
                assert_eq!(bench.execute(&destroy, 0x10), Err(Status::BadResource));
            }
        }
    }
}
