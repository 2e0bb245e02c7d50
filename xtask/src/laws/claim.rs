//! The properties of an entry's row that the laws need.

/// What the row of an entry claims.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The kernel: `stable_vec4`.
    pub kernel: &'a str,
    /// The operator: `sum`; empty if none.
    pub op: &'a str,
    /// The items: `f32`; `f32_f32` for two arrays; `indexed_f32` for values with their indices.
    pub items: &'a str,
    /// The number of elements of an item, each from another array.
    pub item_arrays: u32,
    /// The bits of an element, the same in each array.
    pub element_bits: u32,
    /// The bits of an accumulator, which shuffles move and partials and cells hold.
    pub acc_bits: u32,
    /// The bits of a key; 0 without keys.
    pub key_bits: u32,
    /// Items per vector; in a keyed kernel, items per thread.
    pub vector: u32,
    /// The number of value arrays of a keyed kernel, each reduced separately; 1 for other kernels.
    pub arrays: u32,
    /// Start and end of the operator's value in the parameters, in bytes; equal if it has no fields.
    pub value: [u32; 2],
}

/// The widest access before sm_100, in bits.
const WIDEST: u32 = 128;

/// Maximum bits of items in flight per thread, unless a single vector has more.
const IN_FLIGHT_BITS: u32 = 8 * 128;

impl Claim<'_> {
    /// The bits of a vector in each array.
    fn vector_bits(&self) -> u32 {
        self.element_bits * self.vector
    }

    /// The bits of a vector's loads: the largest power of two that divides the vector, up to 128.
    pub fn load_bits(&self) -> u32 {
        let bits = self.vector_bits();
        (bits & bits.wrapping_neg()).min(WIDEST)
    }

    /// The number of these loads for one vector, in all arrays.
    pub fn loads(&self) -> usize {
        (self.item_arrays * self.vector_bits() / self.load_bits()) as usize
    }

    /// The bits of the loads of a single item: the alignment of an element, which is that of the value if an
    /// index belongs to it.
    pub fn item_load_bits(&self) -> u32 {
        let indexed = self.items.strip_prefix("indexed_").and_then(bits);
        indexed.unwrap_or(self.element_bits)
    }

    /// The number of these loads for one item, in all arrays.
    pub fn item_loads(&self) -> usize {
        (self.item_arrays * self.element_bits / self.item_load_bits()) as usize
    }

    /// The vectors that a thread of a single-pass kernel has in flight at least.
    pub fn vectors_in_flight(&self) -> usize {
        let most = few(IN_FLIGHT_BITS / (self.item_arrays * self.vector_bits()));
        // Two vectors of each array, or of 16 bytes.
        if self.item_arrays > 1 || self.vector > 8 {
            most.min(2)
        } else {
            most
        }
    }

    /// The ways in which an exact sum may add a group of terms. Those with fewer additions are for terms of fewer bits.
    pub fn ways(&self) -> usize {
        let factors = match self.op {
            "sum_squares" | "dot" => 2,
            _ => 1,
        };
        match factors * self.element_bits {
            0..=32 => 3,
            33..=64 => 2,
            _ => 1,
        }
    }

    /// The most bytes that may be spilled: an exact sum of products of 16-bit floats has more values than registers.
    pub fn most_spilled(&self) -> u32 {
        match (self.kernel, self.item_arrays, self.element_bits) {
            ("exact", 2, 16) => 64,
            _ => 0,
        }
    }

    /// The most calls of ptxas's function for a division of 64 bits by a number that the compiler does not know: the length
    /// of a row of segments, the number of blocks that count keys.
    pub fn divisions(&self) -> usize {
        match self.kernel {
            "segments" => 2,
            "count_few" | "count_many" => 1,
            _ => 0,
        }
    }

    /// The atomics that are exchanges. At most one 64-bit key precedes the first vector, and the minimum of its index,
    /// which is 0, and any other is 0.
    pub fn exchanges(&self) -> usize {
        usize::from(self.kernel == "count_few" && self.key_bits == 64)
    }

    /// The partials that a thread has in flight.
    pub fn partials_in_flight(&self) -> usize {
        match self.acc_bits {
            0..=32 => 4,
            33..=128 => 2,
            _ => 1,
        }
    }

    /// The number of shuffles for a value: one for each 32 bits.
    pub fn words(&self) -> usize {
        self.acc_bits.div_ceil(32) as usize
    }

    /// The widths of the keys that the entry accepts, in bits: all up to 32, or 64.
    pub fn key_widths(&self) -> &'static [u32] {
        match self.key_bits {
            0 => &[],
            32 => &[8, 16, 32],
            _ => &[64],
        }
    }

    /// The number of shuffles for a key.
    pub fn key_words(&self) -> usize {
        self.key_bits.div_ceil(32) as usize
    }

    /// Whether an atomic on global memory is a loop around a compare-and-swap: no instruction applies the
    /// operator, or the kernel demonstrates the loop.
    pub fn swaps_in_a_loop(&self) -> bool {
        self.op == "product" || self.kernel == "keyed_cas"
    }

    /// Whether an atomic on shared memory is a loop around a compare-and-swap: no instruction adds floats
    /// there, or applies an operator to 64-bit values or keys.
    pub fn swaps_in_a_loop_in_shared(&self) -> bool {
        // An exact sum adds integers.
        let adds_floats = self.op == "sum" && self.items == "f32" && self.kernel != "exact";
        // A key comes to own a bin by a compare-and-swap.
        let own_bins = [
            "group_insert",
            "group_combine",
            "group_sample",
            "group_collect",
        ];
        let owns_bins = own_bins.contains(&self.kernel);
        self.acc_bits == 64 || self.key_bits == 64 || adds_floats || owns_bins
    }

    /// Whether an item has an element of this type.
    pub fn has(&self, element: &str) -> bool {
        self.items.split('_').any(|part| part == element)
    }
}

/// `limit` rounded down to 4, 2 or 1; at least 1.
fn few(limit: u32) -> usize {
    match limit {
        0 | 1 => 1,
        2 | 3 => 2,
        _ => 4,
    }
}

/// The bits of a type by its name: 32 for `f32`.
fn bits(name: &str) -> Option<u32> {
    name.trim_start_matches(|c: char| !c.is_ascii_digit())
        .parse()
        .ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The claim of an entry whose accumulator has at least 32 bits.
    pub(crate) fn claim(
        kernel: &'static str,
        op: &'static str,
        items: &'static str,
    ) -> Claim<'static> {
        let (value, item_arrays, index) = match items.split_once('_') {
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
            item_arrays,
            element_bits,
            acc_bits: element_bits.max(32),
            key_bits: 0,
            vector,
            arrays: 1,
            value: [0; 2],
        }
    }

    #[test]
    fn a_vector_takes_the_fewest_loads() {
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
    fn a_single_item_is_loaded_by_its_alignment() {
        let loads = |items| {
            let claim = claim("stable", "sum", items);
            (claim.item_load_bits(), claim.item_loads())
        };
        assert_eq!(loads("i8"), (8, 1));
        assert_eq!(loads("f64"), (64, 1));
        assert_eq!(loads("indexed_f32"), (32, 3));
        assert_eq!(loads("indexed_f64"), (64, 2));
        assert_eq!(loads("f32_f32"), (32, 2));
    }

    #[test]
    fn fewer_large_items_and_partials_are_in_flight() {
        let in_flight = |kernel, items| claim(kernel, "sum", items).vectors_in_flight();
        assert_eq!(in_flight("stable_vec4", "f32"), 4);
        assert_eq!(in_flight("stable_vec4", "indexed_f32"), 2);
        assert_eq!(in_flight("stable", "indexed_f64"), 4);
        assert_eq!(in_flight("stable_vec4", "f32_f32"), 2);
        let partials = |acc_bits| {
            let claim = Claim {
                acc_bits,
                ..claim("single_pass", "sum", "f32")
            };
            claim.partials_in_flight()
        };
        assert_eq!([32, 64, 8 * 16, 8 * 24].map(partials), [4, 2, 2, 1]);
    }

    #[test]
    fn a_shuffle_moves_32_bits() {
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
    fn an_item_has_its_elements() {
        assert!(claim("stable", "dot", "f16_f16").has("f16"));
        assert!(!claim("stable", "sum", "bf16").has("f16"));
    }
}
