//! What a launcher tells the processes that it starts, by variables of the environment.

use std::env;
use std::time::Duration;

use super::TIME_LIMIT;
use crate::error::{Error, StartError};

/// What the launcher of this process says: which rank it is, and where the ranks meet.
///
/// | launcher | rank, size, local rank | where the ranks meet |
/// |---|---|---|
/// | torchrun | `RANK`, `WORLD_SIZE`, `LOCAL_RANK` | `MASTER_ADDR`, `MASTER_PORT`; the port behind it if torchrun itself listens there |
/// | Open MPI | `OMPI_COMM_WORLD_RANK`, `_SIZE`, `_LOCAL_RANK` | as torchrun if set; on one host a port that follows from the job |
/// | Hydra (MPICH, Intel MPI) | `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALRANKID` | `MASTER_ADDR`, `MASTER_PORT` |
/// | Slurm's `srun` | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`, `SLURM_LOCALID` | as torchrun if set; else the step's first host, and a port that follows from the job |
///
/// For all of them `WARPFOLD_PORT` is another port, `WARPFOLD_TOKEN` a token that keeps other jobs and strangers out (else it
/// follows from the job's name), and `WARPFOLD_TIME_LIMIT` the seconds that a rank waits for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub(super) launcher: &'static str,
    pub(super) rank: usize,
    pub(super) size: usize,
    pub(super) local_rank: usize,
    /// Host and port of rank 0.
    pub(super) address: Option<(String, u16)>,
    pub(super) token: String,
    pub(super) limit: Duration,
}

impl Launch {
    /// What the environment of this process says; `None` if no launcher has started it.
    ///
    /// # Errors
    ///
    /// [`StartError::Variable`] for a variable that is missing or wrong.
    pub fn from_env() -> Result<Option<Self>, Error> {
        Self::of(&|name| env::var(name).ok())
    }

    /// The number of this rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of this rank among those of its host.
    pub fn local_rank(&self) -> usize {
        self.local_rank
    }

    /// Whether the launcher is one of MPI's.
    pub(super) fn is_mpi(&self) -> bool {
        matches!(self.launcher, "Open MPI" | "Hydra")
    }

    /// How long this rank waits for others.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// [`from_env`](Self::from_env) with the values of variables.
    pub(super) fn of(value: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, Error> {
        let is_set = |name| value(name).is_some();
        // With an interface of MPI, srun has the rank also in a variable of Hydra.
        let is_srun = is_set("SLURM_LOCALID") && !is_set("MPI_LOCALRANKID");
        // mpirun inside a Slurm job has the variables of both, and those of Slurm are of its own helpers.
        if is_set("RANK") || is_set("WORLD_SIZE") {
            Vars("torchrun", value).torchrun().map(Some)
        } else if is_set("OMPI_COMM_WORLD_RANK") {
            Vars("Open MPI", value).open_mpi().map(Some)
        } else if is_set("PMI_RANK") && !is_srun {
            Vars("Hydra", value).hydra().map(Some)
        } else if is_set("SLURM_PROCID") && is_set("SLURM_STEP_NUM_TASKS") {
            // Without a number of the step's tasks it is the batch script itself, not a task.
            Vars("Slurm", value).slurm().map(Some)
        } else {
            Ok(None)
        }
    }
}

/// The variables of a launcher.
struct Vars<'a>(&'static str, &'a dyn Fn(&str) -> Option<String>);

impl Vars<'_> {
    fn torchrun(self) -> Result<Launch, Error> {
        let id = self.1("TORCHELASTIC_RUN_ID").unwrap_or_default();
        let launch = self.launch(["RANK", "WORLD_SIZE", "LOCAL_RANK"], &id)?;
        if launch.size > 1 && launch.address.is_none() {
            let needs = "the host of rank 0";
            let name = match self.1("MASTER_ADDR") {
                Some(_) => ("MASTER_PORT", "a port"),
                None => ("MASTER_ADDR", needs),
            };
            return Err(self.wrong(name.0, name.1));
        }
        Ok(launch)
    }

    fn open_mpi(self) -> Result<Launch, Error> {
        let names = ["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"];
        let id = names.iter().find_map(|name| self.1(name));
        let mut launch = self.launch(
            [
                "OMPI_COMM_WORLD_RANK",
                "OMPI_COMM_WORLD_SIZE",
                "OMPI_COMM_WORLD_LOCAL_RANK",
            ],
            id.as_deref().unwrap_or_default(),
        )?;
        let one_host = self.1("OMPI_COMM_WORLD_LOCAL_SIZE") == Some(launch.size.to_string());
        if launch.address.is_none() && one_host && id.is_some() {
            launch.address = Some(("127.0.0.1".into(), self.port(&launch.token)?));
        }
        Ok(launch)
    }

    fn hydra(self) -> Result<Launch, Error> {
        self.launch(["PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"], "")
    }

    fn slurm(self) -> Result<Launch, Error> {
        let part = |name| self.1(name).unwrap_or_default();
        let id = format!("{}.{}", part("SLURM_JOB_ID"), part("SLURM_STEP_ID"));
        let mut launch = self.launch(
            ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"],
            &id,
        )?;
        let hosts = self.1("SLURM_STEP_NODELIST").and_then(|hosts| first_host(&hosts));
        if let (None, Some(host)) = (&launch.address, hosts) {
            launch.address = Some((host, self.port(&launch.token)?));
        }
        Ok(launch)
    }

    /// The variables with these names, and those that all launchers have in common.
    fn launch(&self, names: [&'static str; 3], job: &str) -> Result<Launch, Error> {
        let [rank, size, local_rank] = names;
        let (size_name, size) = (size, self.number(size, "the number of ranks, at least 1")?);
        if size == 0 {
            return Err(self.wrong(size_name, "the number of ranks, at least 1"));
        }
        let (rank_name, rank) = (rank, self.number(rank, "a rank from 0 on")?);
        if rank >= size {
            return Err(self.wrong(rank_name, "smaller than the number of ranks"));
        }
        let seconds = match self.1("WARPFOLD_TIME_LIMIT") {
            None => TIME_LIMIT.as_secs(),
            Some(_) => self.number("WARPFOLD_TIME_LIMIT", "a number of seconds")? as u64,
        };
        let token = match self.1("WARPFOLD_TOKEN") {
            Some(token) => token,
            None => format!("{} {job}", self.0),
        };
        let address = match (self.1("MASTER_ADDR"), self.1("MASTER_PORT")) {
            (Some(host), Some(_)) => {
                let mut port = self.port_of("MASTER_PORT")?;
                // torchrun listens there itself.
                if self.1("TORCHELASTIC_USE_AGENT_STORE").as_deref() == Some("True") {
                    port = port.checked_add(1).unwrap_or(port - 1);
                }
                Some((host, self.other_port()?.unwrap_or(port)))
            }
            _ => None,
        };
        Ok(Launch {
            launcher: self.0,
            rank,
            size,
            local_rank: self.number(local_rank, "the number of the rank on its host")?,
            address,
            token,
            limit: Duration::from_secs(seconds),
        })
    }

    fn number(&self, name: &'static str, needs: &'static str) -> Result<usize, Error> {
        let value = self.1(name).and_then(|value| value.trim().parse().ok());
        value.ok_or_else(|| self.wrong(name, needs))
    }

    /// The port for a job: `WARPFOLD_PORT`, or one from 20000 on that most jobs do not share.
    fn port(&self, job: &str) -> Result<u16, Error> {
        // FNV-1a: the same in all processes and versions.
        let hash = job.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let port = 20_000 + (hash % 12_000) as u16;
        Ok(self.other_port()?.unwrap_or(port))
    }

    fn other_port(&self) -> Result<Option<u16>, Error> {
        let name = "WARPFOLD_PORT";
        self.1(name).map(|_| self.port_of(name)).transpose()
    }

    fn port_of(&self, name: &'static str) -> Result<u16, Error> {
        match self.1(name).and_then(|port| port.trim().parse().ok()) {
            Some(port) if port > 0 => Ok(port),
            _ => Err(self.wrong(name, "a port from 1 to 65535")),
        }
    }

    fn wrong(&self, name: &'static str, needs: &'static str) -> Error {
        StartError::Variable {
            launcher: self.0,
            name,
            value: self.1(name),
            needs,
        }
        .into()
    }
}

/// The first host of a list as Slurm writes it: `gpu01` of `gpu[01-03,07],login`.
fn first_host(list: &str) -> Option<String> {
    let end = list.find([',', '[']).unwrap_or(list.len());
    let (name, rest) = list.split_at(end);
    let host = match rest.strip_prefix('[') {
        None => name.to_string(),
        Some(rest) => {
            let (numbers, behind) = rest.split_once(']')?;
            let first = numbers.split([',', '-']).next()?;
            let behind = behind.split([',', '[']).next()?;
            format!("{name}{first}{behind}")
        }
    };
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests;
