//! How processes meet: rank 0 listens, the others connect and say who they are, and rank 0 sends them what they need.
//!
//! A rank sends the magic, then token and place, each with its length before it, between rank and size:
//!
//! ```text
//! rank r:  wfmeet1\n | token | rank: u64 | size: u64 | place or problem    numbers are little endian, lengths u64
//! rank 0:  0: u8 | message                       all have come
//!          1: u8 | text                          no rank starts
//! ```
//!
//! The connections stay open: they tell which process has ended. See [`Watch`].

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::launch::Launch;
use super::watch::Watch;
use crate::error::{Error, StartError};

const MAGIC: &[u8; 8] = b"wfmeet1\n";

/// The longest token, place, message or text.
const MOST: u64 = 4096;

/// How long rank 0 waits for what a connection says, so that a stranger who says nothing costs little.
const HELLO: Duration = Duration::from_secs(5);

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// What a rank says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hello {
    token: String,
    rank: usize,
    size: usize,
    /// The GPU and its host; or why this rank cannot start.
    place: Result<String, String>,
}

/// Meets all other ranks; returns the message that rank 0 makes after all have come.
///
/// A rank that cannot start meets the others too, so that they need not wait for it.
pub(super) fn meet(
    launch: &Launch,
    place: Result<String, Error>,
    message: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(Vec<u8>, Watch), Error> {
    let Some((host, port)) = &launch.address else {
        let launcher = launch.launcher;
        return Err(StartError::NoAddress { launcher }.into());
    };
    let hello = Hello {
        token: launch.token.clone(),
        rank: launch.rank,
        size: launch.size,
        place: place
            .as_ref()
            .map_or_else(|error| Err(error.to_string()), |place| Ok(place.clone())),
    };
    let met = match launch.rank {
        0 => {
            let listen = |address: IpAddr| TcpListener::bind((address, *port));
            let is_local = host == "127.0.0.1" || host == "localhost";
            let listener = match is_local {
                true => listen(Ipv4Addr::LOCALHOST.into()),
                // Also for ranks that connect by the fourth version; without the sixth, only for them.
                false => listen(Ipv6Addr::UNSPECIFIED.into())
                    .or_else(|_| listen(Ipv4Addr::UNSPECIFIED.into())),
            };
            let listener = listener.map_err(|error| StartError::Listen {
                port: *port,
                reason: error.to_string(),
            })?;
            gather(&listener, hello, launch.limit, message)
        }
        _ => join(&hello, host, *port, launch.limit),
    };
    // Its own error says more than what rank 0 makes of it.
    place.and(met)
}

/// Rank 0: waits until all ranks have come.
fn gather(
    listener: &TcpListener,
    own: Hello,
    limit: Duration,
    message: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(Vec<u8>, Watch), Error> {
    let mut streams: HashMap<usize, TcpStream> = HashMap::new();
    let message = wait_for_all(listener, own, limit, &mut streams).and_then(|()| message());
    let (status, bytes) = match &message {
        Ok(bytes) => (0, bytes.clone()),
        Err(error) => (1, error.to_string().into_bytes()),
    };
    for stream in streams.values_mut() {
        // A rank that has ended meanwhile is found by the watch.
        let _ = answer(stream, status, &bytes);
    }
    message.map(|message| (message, Watch::of_all(streams)))
}

/// Waits until all ranks have come, or for those that come soon after it is known that they cannot start.
fn wait_for_all(
    listener: &TcpListener,
    own: Hello,
    limit: Duration,
    streams: &mut HashMap<usize, TcpStream>,
) -> Result<(), Error> {
    let size = own.size;
    let mut deadline = Instant::now() + limit;
    listener.set_nonblocking(true).map_err(Error::other)?;
    let (sender, receiver) = mpsc::channel();
    let mut came = Came {
        token: own.token,
        size,
        places: vec![],
    };
    let mut failure = came.place(0, own.place).err();
    let mut refused = 0;
    while streams.len() + refused + 1 < size {
        if let Ok((stream, _)) = listener.accept() {
            let sender = sender.clone();
            // A thread for each, so that none keeps others waiting.
            thread::spawn(move || {
                let _ = listen(stream).map(|hello| sender.send(hello));
            });
        }
        if Instant::now() >= deadline {
            let missing = (1..size).filter(|rank| !streams.contains_key(rank));
            let missing = StartError::Missing {
                missing: missing.collect(),
                size,
                limit,
            };
            return Err(failure.unwrap_or(missing).into());
        }
        let Ok((hello, mut stream)) = receiver.recv_timeout(PAUSE / 10) else {
            continue;
        };
        let rank = hello.rank;
        match came.check(hello, |rank| streams.contains_key(&rank)) {
            Ok(()) => drop(streams.insert(rank, stream)),
            // A stranger stops nobody.
            Err(error @ StartError::Token { .. }) => {
                let _ = answer(&mut stream, 1, error.to_string().as_bytes());
            }
            Err(error) => {
                let _ = answer(&mut stream, 1, error.to_string().as_bytes());
                refused += 1;
                failure.get_or_insert(error);
                deadline = deadline.min(Instant::now() + HELLO);
            }
        }
    }
    failure.map_or(Ok(()), |error| Err(error.into()))
}

/// The ranks that have come.
struct Came {
    token: String,
    size: usize,
    /// The GPU of each.
    places: Vec<(usize, String)>,
}

impl Came {
    /// An error unless such a rank may come.
    fn check(&mut self, hello: Hello, has: impl Fn(usize) -> bool) -> Result<(), StartError> {
        let (rank, size, theirs) = (hello.rank, self.size, hello.size);
        if hello.token != self.token {
            return Err(StartError::Token { rank });
        }
        if theirs != size || rank >= size {
            let ours = size;
            return Err(StartError::Size { rank, theirs, ours });
        }
        if rank == 0 || has(rank) {
            return Err(StartError::RankTwice { rank, size });
        }
        self.place(rank, hello.place)
    }

    /// An error if the rank cannot start, or if another one has its GPU.
    fn place(&mut self, rank: usize, place: Result<String, String>) -> Result<(), StartError> {
        let gpu = place.map_err(|text| StartError::Failed { rank, text })?;
        if let Some((first, _)) = self.places.iter().find(|(_, other)| *other == gpu) {
            return Err(StartError::SameGpu {
                first: rank.min(*first),
                second: rank.max(*first),
                gpu,
            });
        }
        self.places.push((rank, gpu));
        Ok(())
    }
}

/// What a connection says.
fn listen(mut stream: TcpStream) -> io::Result<(Hello, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HELLO))?;
    stream.set_write_timeout(Some(HELLO))?;
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if magic != *MAGIC {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let token = read_text(&mut stream)?;
    let (rank, size) = (read_number(&mut stream)?, read_number(&mut stream)?);
    let hello = Hello {
        token,
        rank: rank as usize,
        size: size as usize,
        place: match read_text(&mut stream)?.split_at_checked(1) {
            Some(("+", place)) => Ok(place.into()),
            Some((_, problem)) => Err(problem.into()),
            None => return Err(io::ErrorKind::InvalidData.into()),
        },
    };
    Ok((hello, stream))
}

fn answer(stream: &mut TcpStream, status: u8, bytes: &[u8]) -> io::Result<()> {
    let mut all = vec![status];
    push(&mut all, &bytes[..bytes.len().min(MOST as usize)]);
    stream.write_all(&all)
}

/// A rank other than 0: connects, and waits for the message.
fn join(hello: &Hello, host: &str, port: u16, limit: Duration) -> Result<(Vec<u8>, Watch), Error> {
    let deadline = Instant::now() + limit;
    let unreachable = |reason: String| StartError::NoRankZero {
        rank: hello.rank,
        address: format!("{host}:{port}"),
        limit,
        reason,
    };
    let mut stream = loop {
        // Rank 0 may start later.
        match connect(host, port, deadline) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() >= deadline => {
                return Err(unreachable(error.to_string()).into());
            }
            Err(_) => thread::sleep(PAUSE),
        }
    };
    let mut talk = || {
        stream.set_nodelay(true)?;
        let left = deadline.saturating_duration_since(Instant::now());
        // A bit longer than rank 0 waits, whose error names the missing ranks.
        stream.set_read_timeout(Some(left + HELLO))?;
        let mut bytes = MAGIC.to_vec();
        push(&mut bytes, hello.token.as_bytes());
        bytes.extend_from_slice(&(hello.rank as u64).to_le_bytes());
        bytes.extend_from_slice(&(hello.size as u64).to_le_bytes());
        let (sign, text) = match &hello.place {
            Ok(place) => ("+", place),
            Err(problem) => ("-", problem),
        };
        let text = format!("{sign}{text}");
        push(
            &mut bytes,
            &text.as_bytes()[..text.floor_char_boundary(MOST as usize)],
        );
        stream.write_all(&bytes)?;
        let mut status = [2];
        stream.read_exact(&mut status)?;
        Ok((status[0], read_bytes(&mut stream)?))
    };
    match talk() {
        Ok((0, message)) => Ok((message, Watch::of_rank_zero(stream))),
        Ok((1, text)) => Err(StartError::Refused {
            text: String::from_utf8_lossy(&text).into_owned(),
        }
        .into()),
        Ok(_) => Err(unreachable("another program listens there".into()).into()),
        Err(error) => {
            let error: io::Error = error;
            let reason = format!("another program listens there, or rank 0 has ended ({error})");
            Err(unreachable(reason).into())
        }
    }
}

fn connect(host: &str, port: u16, deadline: Instant) -> io::Result<TcpStream> {
    let mut failure = io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        let left = deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(PAUSE)) {
            // A system may connect a socket with itself, if it chooses the port on which nobody listens yet.
            Ok(stream) if is_itself(&stream, address) => {}
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn is_itself(stream: &TcpStream, address: SocketAddr) -> bool {
    stream.local_addr().is_ok_and(|local| local == address)
}

fn push(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    to.extend_from_slice(bytes);
}

fn read_number(from: &mut TcpStream) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn read_bytes(from: &mut TcpStream) -> io::Result<Vec<u8>> {
    let len = read_number(from)?;
    if len > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; len as usize];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_text(from: &mut TcpStream) -> io::Result<String> {
    String::from_utf8(read_bytes(from)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests;
