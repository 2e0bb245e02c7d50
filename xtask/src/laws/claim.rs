//! What the tables say of an entry, as far as a law asks.

/// An entry as its row has it.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The kernel: `stable_vec4`.
    pub kernel: &'a str,
    /// The operator: `sum`; empty where there is none.
    pub op: &'a str,
    /// The items: `f32`, `f32_f32` of two arrays, `indexed_f32` of values with their indices.
    pub items: &'a str,
    /// The arrays that hold an element of each item.
    pub side_by_side: u32,
    /// The bits of an element, which is as long in each array.
    pub element_bits: u32,
    /// The bits of an accumulator: of what is shuffled, of a partial, of a cell.
    pub acc_bits: u32,
    /// The bits of a key; 0 where there is none.
    pub key_bits: u32,
    /// The items of a vector, or those that a thread of a keyed kernel loads.
    pub vector: u32,
    /// The arrays of values of a keyed kernel, each reduced by itself; 1 for all others.
    pub arrays: u32,
    /// The operator's value: its first byte among the parameters, and the byte behind its last. Both are
    /// equal where the operator holds nothing.
    pub value: [u32; 2],
}

/// The widest access before sm_100, in bits.
const WIDEST: u32 = 128;

/// Bits of accumulators that a lane has in flight at most, where that is more than one.
const PARTIALS_BITS: u32 = 8 * 96;

/// Bits of items that a thread has in flight at most, where that is more than one vector.
const IN_FLIGHT_BITS: u32 = 8 * 128;

impl Claim<'_> {
    /// The bits of a vector in each array.
    fn vector_bits(&self) -> u32 {
        self.element_bits * self.vector
    }

    /// The bits of a vector's loads: the widest that fill it exactly.
    pub fn load_bits(&self) -> u32 {
        let bits = self.vector_bits();
        (bits & bits.wrapping_neg()).min(WIDEST)
    }

    /// How many of these loads a vector takes, in all arrays.
    pub fn loads(&self) -> usize {
        (self.side_by_side * self.vector_bits() / self.load_bits()) as usize
    }

    /// The bits of the loads of an item by itself. They are as wide as the alignment of an element: that of
    /// a number, or of the value beside an index.
    pub fn item_load_bits(&self) -> u32 {
        let indexed = self.items.strip_prefix("indexed_").and_then(bits);
        indexed.unwrap_or(self.element_bits)
    }

    /// How many of these loads an item takes, in all arrays.
    pub fn item_loads(&self) -> usize {
        (self.side_by_side * self.element_bits / self.item_load_bits()) as usize
    }

    /// Whether some inputs have no vectors: arrays of which the first vectors begin at different items, or
    /// elements that are longer than their alignment and may lie between two places for a load.
    pub fn may_lack_vectors(&self) -> bool {
        let power = self.element_bits & self.element_bits.wrapping_neg();
        self.side_by_side > 1 || power.min(WIDEST) > self.item_load_bits()
    }

    /// The vectors that a thread of a single pass has in flight.
    pub fn vectors_in_flight(&self) -> usize {
        let most = few(IN_FLIGHT_BITS / (self.side_by_side * self.vector_bits()));
        // A load of each array twice.
        if self.side_by_side > 1 {
            most.min(2)
        } else {
            most
        }
    }

    /// The partials that a lane has in flight.
    pub fn partials_in_flight(&self) -> usize {
        few(PARTIALS_BITS / self.acc_bits)
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
        let adds_floats = self.op == "sum" && self.items == "f32";
        self.acc_bits == 64 || self.key_bits == 64 || adds_floats
    }

    /// Whether an item has an element of this type.
    pub fn has(&self, element: &str) -> bool {
        self.items.split('_').any(|part| part == element)
    }
}

/// 4, 2 or 1: the most of them of which there are not more than `room`; at least 1.
fn few(room: u32) -> usize {
    match room {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

/// The bits of a type by its name: 32 of `f32`.
fn bits(name: &str) -> Option<u32> {
    name.trim_start_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An entry of a kernel, `op` and `items`, that accumulates in at least 32 bits.
    pub(crate) fn claim(
        kernel: &'static str,
        op: &'static str,
        items: &'static str,
    ) -> Claim<'static> {
        let (value, side_by_side, index) = match items.split_once('_') {
            None => (items, 1, 0),
            Some(("indexed", value)) => (value, 1, 64),
            Some((first, _)) => (first, 2, 0),
        };
        let element_bits = bits(value).unwrap() + index;
        let vector = match kernel.rsplit_once("_vec") {
            Some((_, elements)) => elements.parse().unwrap(),
            None => 1,
        };
        Claim {
            kernel,
            op,
            items,
            side_by_side,
            element_bits,
            acc_bits: element_bits.max(32),
            key_bits: 0,
            vector,
            arrays: 1,
            value: [0; 2],
        }
    }

    #[test]
    fn a_vector_is_loaded_by_as_few_instructions_as_there_can_be() {
        let loads = |kernel, items| {
            let claim = claim(kernel, "sum", items);
            (claim.load_bits(), claim.loads())
        };
        assert_eq!(loads("stable", "i32"), (32, 1));
        assert_eq!(loads("stable_vec4", "i32"), (128, 1));
        assert_eq!(loads("stable_vec4", "f16"), (64, 1));
        assert_eq!(loads("stable_vec2", "i8"), (16, 1));
        assert_eq!(loads("stable_vec4", "f64"), (128, 2));
        assert_eq!(loads("stable_vec4", "indexed_f32"), (128, 3));
        assert_eq!(loads("stable", "indexed_i64"), (128, 1));
        assert_eq!(loads("stable_vec4", "f32_f32"), (128, 2));
    }

    #[test]
    fn an_item_by_itself_is_loaded_by_its_alignment() {
        let loads = |items| {
            let claim = claim("stable", "sum", items);
            let load = (claim.item_load_bits(), claim.item_loads());
            (load, claim.may_lack_vectors())
        };
        assert_eq!(loads("i8"), ((8, 1), false));
        assert_eq!(loads("f64"), ((64, 1), false));
        // 12 bytes are a multiple of no load wider than their alignment.
        assert_eq!(loads("indexed_f32"), ((32, 3), false));
        assert_eq!(loads("indexed_f64"), ((64, 2), true));
        assert_eq!(loads("f32_f32"), ((32, 2), true));
    }

    #[test]
    fn large_items_and_accumulators_are_fewer_in_flight() {
        let in_flight = |kernel, items| claim(kernel, "sum", items).vectors_in_flight();
        assert_eq!(in_flight("stable_vec4", "f32"), 4);
        assert_eq!(in_flight("stable_vec4", "indexed_f32"), 2);
        assert_eq!(in_flight("stable", "indexed_f64"), 4);
        assert_eq!(in_flight("stable_vec4", "f32_f32"), 2);
        let of_acc = |acc_bits| {
            let claim = Claim {
                acc_bits,
                ..claim("single_pass", "sum", "f32")
            };
            claim.partials_in_flight()
        };
        assert_eq!([8 * 24, 8 * 32, 8 * 64].map(of_acc), [4, 2, 1]);
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

    #[test]
    fn elements_are_parts_of_items() {
        assert!(claim("stable", "dot", "f16_f16").has("f16"));
        assert!(!claim("stable", "sum", "bf16").has("f16"));
    }
}
