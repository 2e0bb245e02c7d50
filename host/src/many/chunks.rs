//! Arrays of all ranks that are larger than memory.

use kernels_gpu::entry::SinglePass;
use kernels_gpu::exact::Accumulator;
use kernels_gpu::tile::items_of_tile;

use super::distributed::{Distributed, merge};
use super::layout::{Layout, join, share};
use super::message::gather;
use crate::chunks::ChunkSource;
use crate::determinism::Determinism;
use crate::device::Device;
use crate::error::{Error, RanksError};
use crate::host;

/// The items of one rank, which come in pieces.
struct Pieces<'a, C, F> {
    device: &'a Device,
    chunks: C,
    fill: F,
    rank: usize,
    layout: &'a Layout,
}

impl<C, F> Pieces<'_, C, F>
where
    C: ChunkSource,
    F: FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
{
    /// An error unless so many items came as the share has.
    fn check(&self, has: u64) -> Result<(), Error> {
        let (rank, items) = (self.rank, self.layout.items(self.rank));
        let share = items.end - items.start;
        match has == share {
            true => Ok(()),
            false => Err(RanksError::Share { rank, has, share }.into()),
        }
    }

    /// A partial for each of the rank's subtrees.
    fn partials<O: SinglePass<C::Items>>(&mut self, op: O) -> Result<Vec<O::Acc>, Error> {
        let tile = items_of_tile::<C::Items>() as u64;
        let all = self.layout.total().div_ceil(tile);
        let (mut partials, mut has) = (vec![], 0);
        for node in self.layout.nodes(self.rank, tile) {
            let tiles = node.tiles(all);
            let start = tiles.start * tile;
            let end = tiles.end.saturating_mul(tile).min(self.layout.total());
            let (partial, items) = self.device.combine_chunks::<C, O>(
                op,
                &mut self.chunks,
                end - start,
                &mut self.fill,
            )?;
            has += items;
            if items < end - start {
                break;
            }
            partials.push(op.offset(partial.expect("a subtree has items"), start));
        }
        self.check(has)?;
        Ok(partials)
    }

    fn accumulate<O: SinglePass<C::Items>>(&mut self, op: O) -> Result<Accumulator, Error> {
        let items = self.layout.items(self.rank);
        let sum = self.device.accumulate_some::<C, O>(
            op,
            &mut self.chunks,
            items.end - items.start,
            &mut self.fill,
        )?;
        self.check(sum.count())?;
        Ok(sum)
    }
}

impl Distributed {
    /// Reduces an array of `n` items of which this rank reads its [`share`](Self::share), in pieces of at most the length of
    /// `chunks`.
    ///
    /// `fill` writes the next items of the share, as for [`Device::reduce_chunks_of`]. It is not asked for more than the share
    /// has. `n` is the same on all ranks. The result has the bits of one device that has the whole array.
    ///
    /// ```
    /// use warpfold::file::Elements;
    /// use warpfold::many::{Distributed, Single};
    /// use warpfold::{Device, SumWide};
    /// # let path = std::env::temp_dir().join(format!("warpfold-many-{}", std::process::id()));
    /// # std::fs::write(&path, [1u8; 1000])?;
    ///
    /// let all = Distributed::new(Device::auto()?, Single);
    /// let mut file = Elements::<u8>::open_raw(&path)?;
    /// let n = file.len() as u64;
    /// file.skip(all.share(n).start as usize);
    /// let chunks = all.device().chunks(300)?;
    /// assert_eq!(all.reduce_chunks_of(SumWide, n, chunks, |chunk| file.read(chunk))?, 1000);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`RanksError::Share`] if the pieces end before the share; [`Error::Ranks`] as [`reduce`](Self::reduce); on the rank that
    /// fails, the error of [`Device::reduce_chunks_of`].
    pub fn reduce_chunks_of<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        n: u64,
        chunks: C,
        fill: impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<O::Output, Error> {
        if self.device().level() == Determinism::Exact && !O::ANY_ORDER {
            let sum = self.accumulate_chunks_of(op, n, chunks, fill)?;
            return Ok(match sum.is_empty() {
                true => op.empty(),
                false => op.of_exact(&sum).expect("the operator has an exact kernel"),
            });
        }
        let layout = self.layout_of_shares(n);
        let call = format!("{n} items: {}", O::ENTRY.name);
        self.call(|ranks, _| {
            let own = self.pieces(&layout, chunks, fill).partials::<O>(op);
            let own = own.map(|partials| host::bytes(&partials).to_vec());
            let all = gather(ranks, &call, own)?;
            let subtrees = all.iter().enumerate().flat_map(|(rank, partials)| {
                let nodes = layout.nodes(rank, items_of_tile::<C::Items>() as u64);
                nodes.zip(host::of_bytes::<O::Acc>(partials))
            });
            let all = join(subtrees, |a, b| op.combine(a, b));
            Ok(all.map_or_else(|| op.empty(), |all| op.finish(all)))
        })
    }

    /// The exact sum of such an array, before it is rounded; see [`reduce_chunks_of`](Self::reduce_chunks_of).
    ///
    /// # Errors
    ///
    /// [`Error::Determinism`] if the operator is no sum of floats; otherwise as
    /// [`reduce_chunks_of`](Self::reduce_chunks_of).
    pub fn accumulate_chunks_of<C: ChunkSource, O: SinglePass<C::Items>>(
        &self,
        op: O,
        n: u64,
        chunks: C,
        fill: impl FnMut(C::Slices<'_>) -> Result<Option<usize>, Error>,
    ) -> Result<Accumulator, Error> {
        let layout = self.layout_of_shares(n);
        let call = format!("{n} items exactly: {}", O::ENTRY.name);
        self.call(|ranks, _| {
            let own = self.pieces(&layout, chunks, fill).accumulate::<O>(op);
            merge(ranks, &call, own)
        })
    }

    /// The layout of ranks that each have their share of `n` items.
    fn layout_of_shares(&self, n: u64) -> Layout {
        let size = self.size();
        let shares = (0..size).map(|rank| share(n, rank, size));
        let lens: Vec<u64> = shares.map(|share| share.end - share.start).collect();
        Layout::of(&lens).expect("the shares are those of a number of items")
    }

    fn pieces<'a, C: ChunkSource, F>(
        &'a self,
        layout: &'a Layout,
        chunks: C,
        fill: F,
    ) -> Pieces<'a, C, F> {
        Pieces {
            device: self.device(),
            chunks,
            fill,
            rank: self.rank(),
            layout,
        }
    }
}
