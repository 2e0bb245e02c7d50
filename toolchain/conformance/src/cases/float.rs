//! Functions of floats: `GpuFloat` with the host's bits, which `tests/accuracy.rs` checks against the
//! reference values, and `ApproxFloat` within its bounds.

use rand::rngs::StdRng;

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};
use crate::float::{Float, approximations};

const BLOCKS: u32 = 16;
const THREADS: u32 = 256;

/// Each function with at least this many arguments.
pub fn trials(arguments: usize) -> Vec<Trial> {
    let mut trials = same_bits::<f32>(arguments);
    trials.extend(same_bits::<f64>(arguments));
    trials.extend(approximations().into_iter().map(|function| {
        Trial::new(format!("float/{}/f32", function.name), move |rng| {
            let (call, sample) = (&function, function.sample(arguments, rng));
            let arguments = call.arguments;
            let name = format!("float_{}_f32", call.name);
            let (accepts, inputs) = (call.clone(), sample.clone());
            let check = move |got: &[u64]| {
                let wrong = |(x, got): &(&[f32; 3], &u64)| {
                    **got > u64::from(u32::MAX)
                        || !accepts.accepts(**x, f32::from_bits(**got as u32))
                };
                match inputs.iter().zip(got).find(wrong) {
                    None => Ok(()),
                    Some((x, got)) => Err(format!(
                        "of {:?} is {:?} ({got:#x}), outside its error bound",
                        &x[..arguments],
                        f32::from_bits(*got as u32)
                    )),
                }
            };
            vec![case(
                name,
                arguments,
                &sample,
                Expectation::property(check),
                rng,
            )]
        })
    }));
    trials
}

fn same_bits<T: Float>(arguments: usize) -> Vec<Trial> {
    let element = T::ELEMENT;
    let trial = move |function: crate::float::Function<T>| {
        let name = function.name;
        Trial::new(format!("float/{name}/{}", element.name()), move |rng| {
            let sample = function.sample(arguments, rng);
            let words = sample.iter().map(|&x| {
                let result = (function.call)(x).word();
                match element.is_nan(result) {
                    true => Word::Nan(element),
                    false => Word::Is(result),
                }
            });
            let (inputs, arguments) = (sample.clone(), function.arguments);
            let locate = move |i: usize| {
                let words = inputs[i].map(T::word);
                format!("of {:#x?}", &words[..arguments])
            };
            let expected = Expectation::words(words.collect(), locate);
            let kernel = format!("float_{name}_{}", element.name());
            vec![case(kernel, arguments, &sample, expected, rng)]
        })
    };
    T::functions().into_iter().map(trial).collect()
}

fn case<T: Float>(
    kernel: String,
    arguments: usize,
    sample: &[[T; 3]],
    expectation: Expectation,
    rng: &mut StdRng,
) -> Case {
    Case {
        name: format!("{} arguments", sample.len()),
        launches: vec![Launch::new(kernel, BLOCKS, THREADS)],
        input: sample
            .iter()
            .flat_map(|x| &x[..arguments])
            .map(|x| x.word())
            .collect(),
        output: sentinels(rng, sample.len()),
        scratch_bytes: 0,
        expectation,
    }
}
