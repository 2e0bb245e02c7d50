//! What the tables say of an entry, as far as a law asks.

/// An entry as it stands in its table.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The kernel: `stable_vec4`.
    pub kernel: &'a str,
    /// The operator: `sum`; empty where there is none.
    pub op: &'a str,
    /// The type of an element: `f32`; `indexed_f32` of a place.
    pub element: &'a str,
    /// The bits of an element.
    pub element_bits: u32,
    /// The bits of what elements are combined in: of what is shuffled, of a partial, of a cell.
    pub acc_bits: u32,
    /// The bits of a key; 0 where there is none.
    pub key_bits: u32,
    /// The elements that a vector has, or that a thread brings at once.
    pub vector: u32,
    /// The arrays of values.
    pub arrays: u32,
}

/// The widest access before sm_100.
const WIDEST: u32 = 128;

impl Claim<'_> {
    /// The bits of the widest load of elements: a vector's, as far as an instruction goes. A
    /// place is aligned as its value is, and its words are loaded one by one.
    pub fn load_bits(&self) -> u32 {
        let place = self.element.strip_prefix("indexed_").and_then(bits);
        place.unwrap_or((self.element_bits * self.vector).min(WIDEST))
    }

    /// How many of these loads a vector takes.
    pub fn loads(&self) -> usize {
        (self.element_bits * self.vector / self.load_bits()) as usize
    }

    /// How many shuffles move a value: one for each 32 bits of it.
    pub fn words(&self) -> usize {
        self.acc_bits.div_ceil(32) as usize
    }

    /// The same of a key.
    pub fn key_words(&self) -> usize {
        self.key_bits.div_ceil(32) as usize
    }

    /// Whether no instruction applies the operator to a cell of global memory, or the kernel is
    /// there to do without.
    pub fn swaps_in_a_loop(&self) -> bool {
        self.op == "product" || self.kernel == "keyed_cas"
    }

    /// Whether an atomic on shared memory is a loop around a compare-and-swap: no instruction adds
    /// floats there, or takes 64 bits, be it of a value or of a key.
    pub fn swaps_in_a_loop_in_shared(&self) -> bool {
        let adds_floats = self.op == "sum" && self.element == "f32";
        self.acc_bits == 64 || self.key_bits == 64 || adds_floats
    }
}

/// The bits of a type by its name: 32 of `f32`.
pub fn bits(name: &str) -> Option<u32> {
    name.trim_start_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An entry of a kernel, `op` and `element`, that accumulates in at least 32 bits.
    pub(crate) fn claim(
        kernel: &'static str,
        op: &'static str,
        element: &'static str,
    ) -> Claim<'static> {
        let value = bits(element).unwrap();
        let element_bits = value
            + if element.starts_with("indexed_") {
                64
            } else {
                0
            };
        let vector = match kernel.rsplit_once("_vec") {
            Some((_, elements)) => elements.parse().unwrap(),
            None => 1,
        };
        Claim {
            kernel,
            op,
            element,
            element_bits,
            acc_bits: element_bits.max(32),
            key_bits: 0,
            vector,
            arrays: 1,
        }
    }

    #[test]
    fn a_vector_is_loaded_by_as_few_instructions_as_there_can_be() {
        let loads = |kernel, element| {
            let claim = claim(kernel, "sum", element);
            (claim.load_bits(), claim.loads())
        };
        assert_eq!(loads("stable", "i32"), (32, 1));
        assert_eq!(loads("stable_vec4", "i32"), (128, 1));
        assert_eq!(loads("stable_vec4", "f16"), (64, 1));
        assert_eq!(loads("stable_vec2", "i8"), (16, 1));
        assert_eq!(loads("stable_vec4", "f64"), (128, 2));
        assert_eq!(loads("stable", "indexed_f32"), (32, 3));
        assert_eq!(loads("stable", "indexed_i64"), (64, 2));
    }

    #[test]
    fn words_are_halves_of_64_bits() {
        assert_eq!(claim("stable", "sum", "f64").words(), 2);
        assert_eq!(claim("stable", "sum", "i8").words(), 1);
        assert_eq!(claim("stable", "arg_min", "indexed_f32").words(), 3);
        let keyed = Claim {
            key_bits: 64,
            ..claim("keyed_ballot", "sum", "f32")
        };
        assert_eq!((keyed.words(), keyed.key_words()), (1, 2));
    }
}
