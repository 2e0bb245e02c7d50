//! What a rank adds to a reduction: partials of whole subtrees of the canonical order.

use std::ops::Range;

use kernels_gpu::entry::SinglePass;
use kernels_gpu::tile::items_of_tile;

use super::communicator::Communicator;
use super::layout::{Cut, Layout, Node, join, nodes};
use super::pieces::Piece;
use crate::backend::Backend;
use crate::cpu;
use crate::device::Device;
use crate::error::{Error, RanksError};
use crate::input::{self, Items, Views};
use crate::single_pass::{self, GridOptions};

/// The accumulator of some of the items, at least one; indices count from the first of them.
pub(super) fn accumulator<I: Items, O: SinglePass<I>>(
    device: &Device,
    views: I::Of<Views<'_>>,
    op: O,
    range: Range<usize>,
) -> Result<O::Acc, Error> {
    let n = range.len();
    let views = input::part::<I>(views, range);
    match device.backend() {
        Backend::Gpu(queue) => {
            single_pass::blocking::<I, O>(queue, views, n, op, GridOptions::default())
        }
        Backend::Cpu(_) => Ok(cpu::reduce::<I, O>(op, input::slices::<I>(views))),
    }
}

/// A rank's items and how they lie.
pub(super) struct Share<'a, 'v, I: Items> {
    pub(super) device: &'a Device,
    pub(super) views: I::Of<Views<'v>>,
    pub(super) rank: usize,
    pub(super) layout: &'a Layout,
}

impl<I: Items> Share<'_, '_, I> {
    const TILE: u64 = items_of_tile::<I>() as u64;

    /// The number of tiles of the whole array.
    fn tiles(&self) -> u64 {
        self.layout.total().div_ceil(Self::TILE)
    }

    /// The indices of some of the rank's items in its views.
    fn local(&self, items: Range<u64>) -> Range<usize> {
        let first = self.layout.items(self.rank).start;
        (items.start - first) as usize..(items.end - first) as usize
    }

    /// The items of each of the rank's [subtrees](Layout::nodes), as indices in its views. No other rank has items of its tiles.
    pub(super) fn subtrees(&self) -> Vec<Range<usize>> {
        let nodes = self.layout.nodes(self.rank, Self::TILE);
        nodes.map(|node| self.local(self.items(node))).collect()
    }

    /// The items of a subtree in the whole array.
    pub(super) fn items(&self, node: Node) -> Range<u64> {
        let tiles = node.tiles(self.tiles());
        let end = tiles.end.saturating_mul(Self::TILE);
        tiles.start * Self::TILE..end.min(self.layout.total())
    }

    /// The partials of the tiles that belong to this rank: one for each of their [subtrees](Layout::nodes). Their indices are
    /// those of the whole array.
    ///
    /// `cut` is the last tile, if other ranks have items of it.
    pub(super) fn partials<O: SinglePass<I>>(
        &self,
        op: O,
        cut: Option<(u64, Piece<I>)>,
    ) -> Result<Vec<O::Acc>, Error> {
        let (all, own) = (self.tiles(), self.layout.tiles(self.rank, Self::TILE));
        let whole = own.start..cut.as_ref().map_or(own.end, |(tile, _)| *tile);
        let mut parts: Vec<(Node, O::Acc)> = vec![];
        for node in nodes(whole, all) {
            let items = self.items(node);
            let start = items.start;
            let partial = accumulator::<I, O>(self.device, self.views, op, self.local(items))?;
            parts.push((node, op.offset(partial, start)));
        }
        if let Some((tile, piece)) = cut {
            let partial = cpu::reduce::<I, O>(op, piece.slices());
            let node = nodes(tile..tile + 1, all).next().expect("one tile");
            parts.push((node, op.offset(partial, tile * Self::TILE)));
        }
        let mut parts = parts.into_iter().peekable();
        let joined = self.layout.nodes(self.rank, Self::TILE).map(|node| {
            let tiles = node.tiles(all);
            let inside = std::iter::from_fn(|| parts.next_if(|part| tiles.contains(&part.0.start)));
            join(inside, |a, b| op.combine(a, b)).expect("each subtree has tiles")
        });
        Ok(joined.collect())
    }

    /// Sends the items whose tile begins on another rank, and receives those of the tile that this rank's end cuts.
    ///
    /// It exchanges messages also if it cannot read its items, because others wait for them.
    pub(super) fn exchange(
        &self,
        ranks: &dyn Communicator,
    ) -> Result<Option<(u64, Piece<I>)>, Error> {
        let (head, cut) = (
            self.layout.head(self.rank, Self::TILE),
            self.layout.cut_tile(self.rank, Self::TILE),
        );
        let mut result = Ok(());
        let message = head.map(|(to, items)| {
            let mut message = vec![1; 1 + self.bytes(&items)];
            match self.piece(items, 0) {
                Ok(mut piece) => {
                    message[0] = 0;
                    message[1..].copy_from_slice(&piece.all_bytes());
                }
                Err(error) => result = Err(error),
            }
            (to, message)
        });
        let pieces = cut.as_ref().map_or(&[][..], |cut| &cut.pieces);
        let mut received: Vec<(usize, Vec<u8>)> = pieces
            .iter()
            .map(|(from, items)| (*from, vec![0; 1 + self.bytes(items)]))
            .collect();
        if message.is_some() || !received.is_empty() {
            let sends: Vec<(usize, &[u8])> = message
                .iter()
                .map(|(to, bytes)| (*to, &bytes[..]))
                .collect();
            let mut receives: Vec<(usize, &mut [u8])> = received
                .iter_mut()
                .map(|(from, bytes)| (*from, &mut bytes[..]))
                .collect();
            ranks.exchange(&sends, &mut receives)?;
        }
        result?;
        cut.map(|cut| self.assemble(cut, &received)).transpose()
    }

    /// The cut tile.
    fn assemble(&self, cut: Cut, received: &[(usize, Vec<u8>)]) -> Result<(u64, Piece<I>), Error> {
        let more: u64 = cut
            .pieces
            .iter()
            .map(|(_, items)| items.end - items.start)
            .sum();
        let mut at = (cut.own.end - cut.own.start) as usize;
        let mut piece = self.piece(cut.own, more as usize)?;
        for ((rank, items), (_, bytes)) in cut.pieces.iter().zip(received) {
            // The gather that follows tells why.
            if bytes[0] != 0 {
                let text = "it has sent no items".into();
                return Err(RanksError::Failed { rank: *rank, text }.into());
            }
            let end = at + (items.end - items.start) as usize;
            piece.write(at..end, &bytes[1..]);
            at = end;
        }
        Ok((cut.tile, piece))
    }

    fn bytes(&self, items: &Range<u64>) -> usize {
        (items.end - items.start) as usize * I::BYTES
    }

    fn piece(&self, items: Range<u64>, more: usize) -> Result<Piece<I>, Error> {
        Piece::download(self.device.backend(), self.views, self.local(items), more)
    }
}
