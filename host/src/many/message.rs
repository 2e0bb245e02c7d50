//! What ranks tell each other in a gather: a piece of data, or the error of a rank that failed.

use super::communicator::Communicator;
use super::nccl::Nccl;
use crate::error::{Error, RanksError};

/// The bytes of a rank in the first gather of a call. What does not fit follows in a second gather, which few calls need.
pub(super) const BLOCK: usize = 1024;

/// The bytes of a block before its data.
const HEADER: usize = 72;

/// The bytes of a call's name.
const NAME: usize = 56;

/// What the block of every version of this library begins with.
const MAGIC: [u8; 4] = *b"wfr1";

/// The longest text of an error.
const TEXT: usize = BLOCK - HEADER;

/// Gathers the data of all ranks, of any lengths. If a rank failed, all ranks return the error of the first that did.
///
/// `call` is the same on all ranks, and tells a call from others.
pub(super) fn gather(
    ranks: &dyn Communicator,
    call: &str,
    data: Result<Vec<u8>, Error>,
) -> Result<Vec<Vec<u8>>, Error> {
    let ours = Block::of(call, ranks.rank(), &data);
    let all = ranks.all_gather(&ours.bytes())?;
    read(ranks, &ours, &all, data)
}

/// [`gather`] of data that ends with `bytes` bytes which the GPU stores. The gather is enqueued behind the kernels that do so,
/// without a wait of the host between them. `enqueue` gets the address of these bytes.
///
/// `head`, the data before them, has 8 bytes more than a multiple of 16; and all data fits into a block ([`fits`]).
pub(super) fn gather_behind(
    nccl: &Nccl,
    call: &str,
    head: &[u8],
    bytes: usize,
    enqueue: impl FnOnce(u64) -> Result<(), Error>,
) -> Result<Vec<Vec<u8>>, Error> {
    assert!(fits(head.len() + bytes));
    let start = HEADER + head.len();
    assert!(start.is_multiple_of(16));
    let mut data = Ok([head, &vec![0; bytes]].concat());
    let mut ours = Block::of(call, nccl.rank(), &data);
    let all = nccl.gather(BLOCK, |block, address| {
        block.copy_from_slice(&ours.bytes());
        if let Err(error) = enqueue(address + start as u64) {
            // Kernels that were enqueued before the failure store their results there.
            nccl.settle();
            data = Err(error);
            ours = Block::of(call, nccl.rank(), &data);
            block.copy_from_slice(&ours.bytes());
        }
    })?;
    read(nccl, &ours, &all, data)
}

/// Whether the data of a rank needs only one gather.
pub(super) fn fits(bytes: usize) -> bool {
    bytes <= TEXT
}

/// The data of all ranks from their blocks.
fn read(
    ranks: &dyn Communicator,
    ours: &Block,
    all: &[u8],
    data: Result<Vec<u8>, Error>,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut blocks = vec![];
    for (rank, bytes) in all.chunks_exact(BLOCK).enumerate() {
        let block = Block::read(bytes);
        if block.magic != MAGIC || block.name != ours.name {
            return Err(RanksError::Calls {
                rank: ranks.rank(),
                ours: ours.call(),
                other: rank,
                theirs: block.call(),
            }
            .into());
        }
        blocks.push(block);
    }
    // A rank's own error keeps its type.
    let data = data?;
    // The rank itself knows best why it failed.
    let failures = || blocks.iter().map(Block::failure).enumerate();
    let own = failures().find_map(|(rank, failure)| failure.filter(|failure| failure.0 == rank));
    if let Some((rank, text)) = own.or_else(|| failures().find_map(|(_, failure)| failure)) {
        return Err(RanksError::Failed { rank, text }.into());
    }
    let longest = blocks.iter().map(|block| block.len as usize).max();
    let more = longest.unwrap_or(0).saturating_sub(TEXT);
    let mut rest = vec![];
    if more > 0 {
        rest.extend_from_slice(data.get(TEXT..).unwrap_or_default());
        rest.resize(more, 0);
        rest = ranks.all_gather(&rest)?;
    }
    let whole = blocks.into_iter().enumerate().map(|(rank, block)| {
        let len = block.len as usize;
        let mut data = block.data;
        if more > 0 {
            data.extend_from_slice(&rest[rank * more..][..more]);
        }
        data.truncate(len);
        data
    });
    Ok(whole.collect())
}

/// A rank's part of the first gather.
struct Block {
    magic: [u8; 4],
    /// The rank that failed, plus 1; 0 if none did.
    failed: u32,
    /// The bytes of the data or of the error's text, also of what does not fit.
    len: u64,
    name: [u8; NAME],
    data: Vec<u8>,
}

impl Block {
    fn of(call: &str, rank: usize, data: &Result<Vec<u8>, Error>) -> Self {
        let (failed, data) = match data {
            Ok(data) => (0, data.clone()),
            // The rank passes on what another told it.
            Err(Error::Ranks(RanksError::Failed { rank, text })) => {
                (*rank + 1, text.clone().into())
            }
            Err(error) => (rank + 1, error.to_string().into()),
        };
        let mut name = [0; NAME];
        let len = call.len().min(NAME);
        name[..len].copy_from_slice(&call.as_bytes()[..len]);
        Self {
            magic: MAGIC,
            failed: failed as u32,
            len: data.len() as u64,
            name,
            data,
        }
    }

    /// Numbers are little endian.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BLOCK);
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&self.failed.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.extend_from_slice(&self.name);
        bytes.extend_from_slice(&self.data[..self.data.len().min(TEXT)]);
        bytes.resize(BLOCK, 0);
        bytes
    }

    /// The block in `BLOCK` bytes.
    fn read(bytes: &[u8]) -> Self {
        let (words, data) = bytes.split_at(HEADER);
        let word = |at: usize| words[at..at + 4].try_into().expect("four bytes");
        Self {
            magic: word(0),
            failed: u32::from_le_bytes(word(4)),
            len: u64::from_le_bytes(words[8..16].try_into().expect("eight bytes")),
            name: words[16..].try_into().expect("the rest"),
            data: data.to_vec(),
        }
    }

    /// The call as text.
    fn call(&self) -> String {
        if self.magic != MAGIC {
            return "another program, or another version of warpfold".into();
        }
        let end = self.name.iter().position(|byte| *byte == 0);
        let name = &self.name[..end.unwrap_or(NAME)];
        format!("`{}`", String::from_utf8_lossy(name))
    }

    /// The rank that failed, and its text.
    fn failure(&self) -> Option<(usize, String)> {
        let rank = self.failed.checked_sub(1)?;
        let text = &self.data[..TEXT.min(self.len as usize)];
        Some((rank as usize, String::from_utf8_lossy(text).into_owned()))
    }
}
