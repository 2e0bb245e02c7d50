//! Reductions along axes.

use super::{Source, mutant};

const SUM: &[&str] = &["axes_sum_f32"];

const HORNER: &[&str] = &["axes_horner_u32"];

const MAX: &[&str] = &["axes_max_i32"];

const ARG_MAX: &[&str] = &["axes_arg_max_f32"];

pub const SOURCE: Source = Source {
    path: "axes.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "quotient_doubled",
            "a division takes a bit more of the product",
            "(index as u128 * multiplier as u128) >> 64;",
            "(index as u128 * multiplier as u128) >> 63;",
        ),
        mutant(
            "offset_of_the_whole_index",
            "a dimension's offset is that of the index, not of the remainder",
            "(rest - outer * len).wrapping_mul(word(2))",
            "rest.wrapping_mul(word(2))",
        ),
        mutant(
            "stride_of_the_dimension_outside",
            "a dimension has the stride of the next one",
            "(rest - outer * len).wrapping_mul(word(2))",
            "(rest - outer * len).wrapping_mul(word(5))",
        ),
        mutant(
            "one_dimension_too_many",
            "divides an index by the outermost length too",
            "while dim < self.last {",
            "while dim <= self.last {",
        ),
        mutant(
            "one_dimension_too_few",
            "does not divide by the last length",
            "while dim < self.last {",
            "while dim + 1 < self.last {",
        ),
        mutant(
            "reduced_dimensions_not_loaded",
            "the words of dimensions are loaded for several kept ones only",
            "self.kept > 1 || self.dims > self.kept + 1",
            "self.kept > 1",
        ),
        mutant(
            "kept_dimensions_not_loaded",
            "the words of dimensions are loaded for several reduced ones only",
            "self.kept > 1 || self.dims > self.kept + 1",
            "self.dims > self.kept + 1",
        ),
        mutant(
            "last_tiles_left_out",
            "the number of jobs is rounded down",
            "self.groups * self.tiles.div_ceil(self.tiles_of_block())",
            "self.groups * (self.tiles / self.tiles_of_block())",
        ),
        mutant(
            "last_partials_left_out",
            "the number of a column's partials is rounded down",
            "self.tiles.div_ceil(self.tiles_of_block()),",
            "self.tiles / self.tiles_of_block(),",
        ),
        mutant(
            "warp_of_several_columns",
            "combines the lanes of a warp although they have several columns",
            "width > 1 || of_threads || 1 << log_threads < LANES",
            "width > 1 || 1 << log_threads < LANES",
        ),
        mutant(
            "adjacent_lanes_overlap",
            "a lane starts an item behind the lane before",
            "true => I::VECTOR,",
            "true => 1,",
        ),
        mutant(
            "one_row_of_a_lane",
            "adjacent lanes are a row apart, although a lane has adjacent rows",
            "false => ROWS * I::VECTOR,",
            "false => I::VECTOR,",
        )
        .on(HORNER),
        mutant(
            "values_over_the_dimensions",
            "the threads' values and the dimensions share memory",
            "const DIM_BYTES: u32 = (WORDS * size_of::<u64>()) as u32;",
            "const DIM_BYTES: u32 = 0;",
        ),
    ],
};

pub const SELECT: Source = Source {
    path: "axes/columns/select.rs",
    kernels: ARG_MAX,
    mutants: &[
        mutant(
            "last_of_equal_vectors",
            "of vectors with equal items that are loaded together, takes the last",
            "                let k = K - 1 - k;
",
            "",
        ),
        mutant(
            "all_are_better",
            "takes an item of each group of vectors",
            "unrolled!(|w < W| if self.op.precedes(found[w], best.items[w]) {",
            "unrolled!(|w < W| if true {",
        ),
        mutant(
            "index_of_a_tile_alone",
            "counts the index from the tile's start",
            "let index = first + best.at[w] as usize * each + of_vector;",
            "let index = best.at[w] as usize * each + of_vector;",
        ),
        mutant(
            "first_item_of_a_vector",
            "gives both items of a column in a vector the same index",
            "let of_vector = if w < shape.width as usize { 0 } else { 1 };",
            "let of_vector = 0;",
        ),
        mutant(
            "vectors_left_out",
            "leaves out the vectors behind the last whole group",
            "        while vector < vectors {
",
            "        while false {
",
        ),
        mutant(
            "one_tile_of_several",
            "takes the vectors of the first of several tiles",
            "(shape.items as usize - first).min(shape.each as usize * items_of_tile::<I>());",
            "(shape.items as usize - first).min(items_of_tile::<I>());",
        ),
        mutant(
            "one_column_for_all_unaligned",
            "loads the first column's items for all columns, if vectors are not aligned",
            "I::get(self.arrays, at + w)",
            "I::get(self.arrays, at)",
        ),
    ],
};

pub const COLUMNS: Source = Source {
    path: "axes/columns.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "one_column_of_a_vector",
            "takes one column of a vector of four",
            "if W == 1 || shape.width == 1 {",
            "if W == 1 || shape.width <= 4 {",
        ),
        mutant(
            "no_barrier_after_the_dimensions",
            "threads read lengths and strides that others have not stored yet",
            "            });
            sync_threads();
",
            "            });
",
        ),
        mutant(
            "kept_dimensions_and_one_reduced",
            "the outermost kept dimension is not the last one",
            "last: self.kept.saturating_sub(1),",
            "last: self.kept,",
        ),
        mutant(
            "one_job_of_a_block",
            "a block reduces one group of columns only",
            "job += u64::from(grid_dim_x());",
            "break;",
        ),
        mutant(
            "next_job_by_threads",
            "jobs are as many apart as a block has threads",
            "job += u64::from(grid_dim_x());",
            "job += u64::from(THREADS);",
        ),
        mutant(
            "group_of_the_job",
            "the group of columns does not start again with the next tiles",
            "let group = job - tiles * shape.groups;",
            "let group = job;",
        ),
        mutant(
            "same_tile_for_all",
            "all threads of a block take the same tile",
            "+ u64::from(sub)",
            "",
        ),
        mutant(
            "vector_behind_the_last",
            "`<=` for `<`: a vector behind the last one is reduced",
            "vector < shape.vectors as usize",
            "vector <= shape.vectors as usize",
        ),
        mutant(
            "tile_behind_the_last",
            "stores the identity for tiles behind the last one",
            " && tile < shape.tiles as usize",
            "",
        ),
        mutant(
            "adjacent_threads_of_one_vector",
            "a team's threads are adjacent, although their lanes are not",
            "apart: if is_across { 1 << log_vectors } else { 1 },",
            "apart: 1,",
        ),
        mutant(
            "every_thread_of_a_team_stores",
            "threads without the result store too",
            "if exists && number == 0 && is_first {",
            "if exists && is_first {",
        ),
        mutant(
            "team_of_no_vector_stores",
            "stores results behind the last column",
            "if exists && number == 0 && is_first {",
            "if number == 0 && is_first {",
        ),
        mutant(
            "every_tile_of_a_block_stores",
            "threads whose tile is not the block's first one store too",
            "if exists && number == 0 && is_first {",
            "if exists && number == 0 {",
        ),
        mutant(
            "columns_of_the_next_vector",
            "a vector's results are in the places of the next one's",
            "1 => (output, vector * width),",
            "1 => (output, (vector + 1) * width),",
        ),
        mutant(
            "partials_by_vector",
            "a vector's partials are adjacent, where they are read as far apart as there are columns",
            "partial * shape.columns as usize + vector * width",
            "(vector * shape.partials_of_column() as usize + partial) * width",
        ),
        mutant(
            "no_barrier_between_jobs",
            "a thread overwrites a value of the last job that another one has not read yet",
            "            // The values are read before those of the next job are stored.
            sync_threads();
",
            "",
        ),
        mutant(
            "start_forgotten",
            "a view begins with its lowest item, although dimensions run backwards",
            "(shape.first as usize).wrapping_add(kept.offset(vector))",
            "kept.offset(vector)",
        ),
        mutant(
            "lanes_of_a_thread_in_order",
            "a thread combines adjacent lanes instead of halves",
            "((q.reverse_bits() >> 1) >> (31 - log_lanes))",
            "q",
        ),
        mutant(
            "lanes_of_a_thread_apart",
            "a thread has lanes that are apart, of an operator that is not commutative",
            "false => (self.number << log_lanes) + lane,",
            "false => self.number + (lane << log_threads),",
        )
        .on(HORNER),
        mutant(
            "later_lanes_first",
            "combines a waiting subtree behind the one that it waits for",
            "self.op.combine(waiting[level][w], values[w])",
            "self.op.combine(values[w], waiting[level][w])",
        )
        .on(HORNER),
        mutant(
            "carry_lost",
            "a subtree of several lanes does not wait for the next one",
            "} else if level == carries {",
            "} else if level == carries && level == 0 {",
        )
        .on(&["axes_sum_f32", "axes_horner_u32"]),
        mutant(
            "lane_keeps_the_one_before",
            "a lane starts with the items of the lane before",
            "            accs = none;
            // As many",
            "            // As many",
        ),
        mutant(
            "lanes_of_any_order_not_combined",
            "a thread never combines its accumulators, if the order is free",
            "if O::ANY_ORDER && q < steps {",
            "if O::ANY_ORDER {",
        )
        .on(MAX),
        mutant(
            "vectors_of_one_stride",
            "loads vectors as if all reduced dimensions had one stride",
            "column.dims.first >= column.dims.last;",
            "true;",
        ),
        mutant(
            "same_tile_again",
            "a warp combines its first tile again instead of the next one",
            "self.tile + (q >> log_lanes) as usize;",
            "self.tile;",
        )
        .on(ARG_MAX),
        mutant(
            "groups_of_tiles_overlap",
            "a warp's first tile is the next one behind the first of the warp before",
            "tile: tile * shape.each as usize,",
            "tile,",
        )
        .on(ARG_MAX),
        mutant(
            "no_barrier_in_team",
            "a thread reads a value that another one has not stored yet",
            "            sync_threads();
            if is_left {",
            "            if is_left {",
        ),
        mutant(
            "tiles_of_a_block_not_combined",
            "a block's first tile is the partial of all",
            "while level < self.log_threads + log_tiles {",
            "while level < self.log_threads {",
        ),
        mutant(
            "later_tiles_first",
            "combines the later ones of a block's tiles before the first ones",
            "let step = 1 << (level - self.log_threads);",
            "let step = 1 << (self.log_threads + log_tiles - 1 - level);",
        )
        .on(HORNER),
        mutant(
            "team_from_the_smallest_step",
            "the halves of a team begin with the smallest",
            "let step = 1 << (self.log_threads - 1 - level);",
            "let step = 1 << level;",
        ),
        mutant(
            "right_before_left",
            "a team combines in the wrong order",
            "op.combine(values[w], self.values.get(place(w, above)))",
            "op.combine(self.values.get(place(w, above)), values[w])",
        )
        .on(HORNER),
        mutant(
            "columns_share_places",
            "the values of a thread's columns overwrite each other",
            "w as u32 * THREADS + thread",
            "w as u32 + thread",
        ),
    ],
};

pub const COLUMN: Source = Source {
    path: "axes/columns/column.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "run_starts_at_its_tile",
            "the base of a tile in a run is the offset of its first item",
            ".wrapping_sub(first.wrapping_mul(stride))",
            "",
        ),
        mutant(
            "run_in_all_dimensions",
            "walks all dimensions in a tile that is in a run of the innermost",
            "            last = shape.kept;
",
            "",
        ),
    ],
};

pub const SHARE: Source = Source {
    path: "axes/columns/share.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "part_without_items_absorbed",
            "combines a whole part although only its first item exists",
            "if N >= PART && self.is_item(first + PART - 1) {",
            "if N >= PART && self.is_item(first) {",
        )
        .on(ARG_MAX),
        mutant(
            "first_column_for_all",
            "all columns of a vector get the first one's items",
            "lanes[w].absorb_item(slot, items[w], index);",
            "lanes[w].absorb_item(slot, items[0], index);",
        ),
        mutant(
            "first_column_absorbed_for_all",
            "all columns of a vector absorb the first one's rows",
            "[a[w], b[w], c[w], d[w]]",
            "[a[0], b[0], c[0], d[0]]",
        )
        .on(ARG_MAX),
        mutant(
            "one_column_for_all",
            "loads the first column's items for all columns",
            "I::get(column.arrays, at + w)",
            "I::get(column.arrays, at)",
        ),
        mutant(
            "rows_side_by_side",
            "items of the next row are loaded from behind those of the row before",
            "i / N * (LANES * N) + i % N",
            "i",
        ),
        mutant(
            "second_item_forgotten",
            "a vector of two items of each column gives the first one twice",
            "vector[w + half]",
            "vector[w]",
        ),
        mutant(
            "third_item_in_the_first_slot",
            "a third item is combined with the first one, not with an identity",
            "(lanes, slot + 2, first + 2)",
            "(lanes, slot, first + 2)",
        ),
    ],
};

pub const FEW: Source = Source {
    path: "axes/columns/few.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "last_of_equal_items",
            "selects the last of equal items",
            "if op.precedes(items[i][w], best) {",
            "if !op.precedes(best, items[i][w]) {",
        )
        .on(ARG_MAX),
        mutant(
            "first_item_again",
            "combines a column's first item with itself",
            "(shape.reduced_stride as usize).wrapping_mul(i);",
            "(shape.reduced_stride as usize).wrapping_mul(i / 4);",
        ),
        mutant(
            "vectors_behind_the_last",
            "takes two vectors if there is one",
            "(V - 1) * APART + LANES <= vectors",
            "LANES <= vectors",
        ),
        mutant(
            "part_of_a_warp",
            "takes the vectors of a warp if there is one",
            "(V - 1) * APART + LANES <= vectors",
            "(V - 1) * APART + 1 <= vectors",
        ),
        mutant(
            "first_turn_alone",
            "a block takes only as many vectors as it has threads for",
            "first += grid_dim_x() as usize * V * APART;",
            "break;",
        ),
    ],
};

pub const STORE: Source = Source {
    path: "store.rs",
    kernels: ARG_MAX,
    mutants: &[
        mutant(
            "no_barrier_before_the_exchange",
            "a lane reads results that another one has not stored yet",
            "    // SAFETY: all lanes of the warp arrive here.
    unsafe { sync_warp(FULL_MASK) };
",
            "",
        ),
        mutant(
            "no_barrier_after_the_exchange",
            "a lane overwrites results that another one has not read yet",
            "    // SAFETY: as above.
    unsafe { sync_warp(FULL_MASK) };
",
            "",
        ),
        mutant(
            "warps_share_places",
            "the results of all warps are in the same places",
            "(tid - lane) * M as u32;",
            "0;",
        ),
    ],
};

pub const COMBINE: Source = Source {
    path: "axes/combine.rs",
    kernels: SUM,
    mutants: &[
        mutant(
            "last_run_lost",
            "the number of partials of a later round is rounded down",
            "            left = left.div_ceil(RUN);
",
            "            left /= RUN;
",
        ),
        mutant(
            "same_distance_in_every_round",
            "a later round reads partials that the first one has combined",
            "            step *= RUN;
",
            "",
        ),
        mutant(
            "one_round_more",
            "the first round reads the partials of the second",
            "while round < self.round {",
            "while round <= self.round {",
        ),
        mutant(
            "last_short_run_left_out",
            "a run of fewer partials is not combined",
            "self.columns * plan.left.div_ceil(RUN) as u64",
            "self.columns * (plan.left / RUN) as u64",
        ),
        mutant(
            "partial_behind_the_last",
            "`<=` for `<`: reads a partial behind the last one",
            "match column < columns && partial < left {",
            "match column < columns && partial <= left {",
        ),
        mutant(
            "partials_of_a_lane_by_halves",
            "a lane combines the halves of its partials instead of adjacent ones",
            "values[2 * i], values[2 * i + 1]",
            "values[i], values[i + (OF_LANE >> (level + 1))]",
        ),
        mutant(
            "lanes_side_by_side",
            "adjacent lanes take adjacent partials",
            "place as usize * OF_LANE + i;",
            "place as usize + i * WARP_SIZE as usize;",
        ),
        mutant(
            "every_lane_stores",
            "a lane without the result stores too",
            "if place == 0 && column < columns {",
            "if column < columns {",
        ),
        mutant(
            "column_behind_the_last_loaded",
            "loads partials behind those of the last column",
            "match column < columns && partial < left {",
            "match partial < left {",
        ),
        mutant(
            "column_behind_the_last_stored",
            "stores a result behind that of the last column",
            "if place == 0 && column < columns {",
            "if place == 0 {",
        ),
        mutant(
            "no_barrier_behind_the_warps",
            "a thread reads the value of a warp that has not stored it yet",
            "            sync_threads();
            unrolled!",
            "            unrolled!",
        ),
        mutant(
            "no_barrier_before_the_next_run",
            "a warp overwrites a value that another thread has not read yet",
            "            // The values are read before those of the next run are stored.
            sync_threads();
",
            "",
        ),
        mutant(
            "every_round_is_the_last",
            "the partials of the next round are not stored",
            "if shape.is_last > 0 {",
            "if shape.is_last > 0 || shape.round == 0 {",
        ),
        mutant(
            "result_at_the_number_of_its_run",
            "the next round does not find the partials",
            "partials.set(run * RUN * step * columns + column, value);",
            "partials.set(run * columns + column, value);",
        ),
    ],
};
