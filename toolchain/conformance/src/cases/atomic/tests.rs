//! Executes the kernels of atomics sequentially on the host: correct outputs pass, wrong ones are rejected.

use super::*;
use crate::case::Expectation;
use conformance_kernels::atomic as kernel;
use rand::SeedableRng;

const SUBJECT: Subject = Subject {
    space: Space::Global,
    scope: "device",
    element: Element::I32,
};

const SHAPE: Shape = Shape {
    blocks: 2,
    addresses: 3,
    rounds: 1,
};

/// The output of `contend` with threads in order.
fn in_order(case: &Case, action: Action, element: Element, addresses: usize) -> Vec<u64> {
    let mut output = case.output.clone();
    let mask = element.mask();
    for turn in 0..case.input.len() / kernel::INPUT {
        let (operand, address) = (case.input[2 * turn], case.input[2 * turn + 1] as usize);
        let old = output[address] & mask;
        let circle = matches!(action, Action::Circle);
        let success = u64::from(!circle || old == operand);
        let step = action.step(element, operand, old, success).unwrap();
        output[address] = output[address] & !mask | step.left;
        output[addresses + 2 * turn] = old;
        output[addresses + 2 * turn + 1] = success;
    }
    output
}

fn check(case: &Case, got: &[u64]) -> Result<(), String> {
    match &case.expectation {
        Expectation::Property(check) => check(got),
        Expectation::Words { .. } => panic!("{} does not expect a property", case.name),
    }
}

fn relaxed(action: Action, rng: &mut StdRng) -> Case {
    contend(SUBJECT, action, ("relaxed", ordering::RELAXED), SHAPE, rng)
}

#[test]
fn threads_in_order_pass() {
    let mut rng = StdRng::seed_from_u64(11);
    let fetches = OPERATIONS.map(|(code, operation)| Action::Fetch(code, operation));
    let others = [Action::Update, Action::Circle, Action::Increment];
    for action in fetches.into_iter().chain(others) {
        let case = relaxed(action, &mut rng);
        let got = in_order(&case, action, SUBJECT.element, 3);
        assert_eq!(check(&case, &got), Ok(()), "{}", case.name);
    }
}

#[test]
fn a_lost_update_is_refused() {
    let mut rng = StdRng::seed_from_u64(12);
    let action = Action::Fetch(code::ADD, Operation::Add);
    let case = relaxed(action, &mut rng);
    let mut got = in_order(&case, action, SUBJECT.element, 3);
    // The operation is recorded, but the address is unchanged.
    got[0] = case.output[0];
    let error = check(&case, &got).unwrap_err();
    assert!(error.starts_with("address 0"), "{error}");
}

#[test]
fn a_neighbour_that_changes_is_refused() {
    let mut rng = StdRng::seed_from_u64(13);
    let case = relaxed(Action::Update, &mut rng);
    let mut got = in_order(&case, Action::Update, SUBJECT.element, 3);
    got[1] ^= 1 << 40;
    let error = check(&case, &got).unwrap_err();
    assert!(error.contains("beyond the i32"), "{error}");
}

#[test]
fn a_false_success_is_refused() {
    let mut rng = StdRng::seed_from_u64(14);
    let case = relaxed(Action::Circle, &mut rng);
    let mut got = in_order(&case, Action::Circle, SUBJECT.element, 3);
    got[3 + 1] ^= 1;
    let error = check(&case, &got).unwrap_err();
    assert!(error.contains("success reported"), "{error}");
}

#[test]
fn a_counter_value_returned_twice_is_rejected() {
    let mut rng = StdRng::seed_from_u64(15);
    for (wrap, action) in [
        (false, Action::Fetch(code::ADD, Operation::Add)),
        (true, Action::Increment),
    ] {
        let case = counter_values(SUBJECT, wrap, &mut rng);
        let mut got = in_order(&case, action, SUBJECT.element, 1);
        assert_eq!(check(&case, &got), Ok(()));
        got[1 + 2 * 7] = 6;
        assert!(check(&case, &got).is_err());
    }
}

#[test]
fn a_counter_that_does_not_wrap_is_refused() {
    let mut rng = StdRng::seed_from_u64(17);
    let case = counter_values(SUBJECT, true, &mut rng);
    let mut got = in_order(&case, Action::Increment, SUBJECT.element, 1);
    assert_eq!(got[0] & SUBJECT.element.mask(), 0);
    got[0] |= case.input.len() as u64 / kernel::INPUT as u64;
    let error = check(&case, &got).unwrap_err();
    assert!(error.ends_with("expected 0x0"), "{error}");
}

#[test]
fn addresses_stay_inside_their_scope() {
    let mut rng = StdRng::seed_from_u64(16);
    let own = Subject {
        scope: "block",
        ..SUBJECT
    };
    let (launch, all) = own.launch("atomic", [0, 0], SHAPE);
    assert_eq!((launch.parameters[2], all), (6, 6));
    let shared = Subject {
        space: Space::Shared,
        ..SUBJECT
    };
    let (launch, all) = shared.launch("atomic", [0, 0], SHAPE);
    assert_eq!((launch.parameters[2], launch.shared_bytes, all), (3, 24, 6));
    for turn in 0..2 * THREADS {
        let block = turn / THREADS;
        let (address, place) = own.address(turn, SHAPE, &mut rng);
        assert!(address == place && address / 3 == block);
        let (address, place) = shared.address(turn, SHAPE, &mut rng);
        assert!(address < 3 && place / 3 == block);
    }
}
