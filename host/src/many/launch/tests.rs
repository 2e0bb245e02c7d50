//! The variables of each launcher.

use super::*;

/// What such an environment says.
fn of(vars: &str) -> Result<Option<Launch>, Error> {
    let value = |name: &str| {
        vars.split_whitespace()
            .filter_map(|var| var.split_once('='))
            .find(|(found, _)| *found == name)
            .map(|(_, value)| value.to_string())
    };
    Launch::of(&value)
}

#[track_caller]
fn launch(vars: &str) -> Launch {
    of(vars).unwrap().unwrap()
}

#[track_caller]
fn refused(vars: &str) -> String {
    of(vars).unwrap_err().to_string()
}

const TORCHRUN: &str =
    "RANK=3 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=gpu7 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=j5";

#[test]
fn no_launcher() {
    assert_eq!(of(""), Ok(None));
    // A batch script of Slurm, which is no task.
    assert_eq!(
        of("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0"),
        Ok(None)
    );
}

#[test]
fn torchrun() {
    let found = launch(TORCHRUN);
    let expected = Launch {
        launcher: "torchrun",
        rank: 3,
        size: 4,
        local_rank: 1,
        address: Some(("gpu7".into(), 29500)),
        token: "torchrun j5".into(),
        limit: TIME_LIMIT,
    };
    assert_eq!(found, expected);
    let store = launch(&format!("{TORCHRUN} TORCHELASTIC_USE_AGENT_STORE=True"));
    assert_eq!(store.address, Some(("gpu7".into(), 29501)));
    let other = launch(&format!(
        "{TORCHRUN} WARPFOLD_PORT=7 WARPFOLD_TOKEN=t WARPFOLD_TIME_LIMIT=9"
    ));
    assert_eq!(other.address, Some(("gpu7".into(), 7)));
    assert_eq!((&*other.token, other.limit.as_secs()), ("t", 9));
    // One rank needs no address.
    assert_eq!(launch("RANK=0 WORLD_SIZE=1 LOCAL_RANK=0").address, None);
}

#[test]
fn missing_and_wrong_variables() {
    let without = |name: &str| {
        let vars = TORCHRUN
            .split(' ')
            .filter(|var| !var.starts_with(&format!("{name}=")));
        refused(&vars.collect::<Vec<_>>().join(" "))
    };
    for name in [
        "RANK",
        "WORLD_SIZE",
        "LOCAL_RANK",
        "MASTER_ADDR",
        "MASTER_PORT",
    ] {
        let text = format!("torchrun: the environment variable {name} is not set; must be ");
        assert!(without(name).starts_with(&text), "{}", without(name));
    }
    for (change, text) in [
        (
            "RANK=4",
            r#"RANK is "4"; must be smaller than the number of ranks"#,
        ),
        ("RANK=-1", r#"RANK is "-1"; must be a rank from 0 on"#),
        (
            "WORLD_SIZE=0",
            r#"WORLD_SIZE is "0"; must be the number of ranks, at least 1"#,
        ),
        (
            "MASTER_PORT=0",
            r#"MASTER_PORT is "0"; must be a port from 1 to 65535"#,
        ),
        (
            "WARPFOLD_PORT=70000",
            r#"WARPFOLD_PORT is "70000"; must be a port"#,
        ),
        (
            "WARPFOLD_TIME_LIMIT=x",
            r#"WARPFOLD_TIME_LIMIT is "x"; must be a number of seconds"#,
        ),
    ] {
        let found = refused(&format!("{change} {TORCHRUN}"));
        assert!(found.contains(text), "{found}");
    }
}

#[test]
fn open_mpi() {
    let vars = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_NAMESPACE=job-7 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_LOCALID=0";
    let found = launch(&format!("{vars} OMPI_COMM_WORLD_LOCAL_SIZE=2"));
    assert_eq!((found.launcher, found.rank, found.size), ("Open MPI", 1, 2));
    let (host, port) = found.address.unwrap();
    assert_eq!(host, "127.0.0.1");
    assert!((20_000..32_000).contains(&port));
    // The same port on all ranks, and another one for another job.
    let other = vars.replace("RANK=1", "RANK=0");
    assert_eq!(
        launch(&format!("{other} OMPI_COMM_WORLD_LOCAL_SIZE=2"))
            .address
            .unwrap()
            .1,
        port
    );
    let other = vars.replace("job-7", "job-8");
    assert_ne!(
        launch(&format!("{other} OMPI_COMM_WORLD_LOCAL_SIZE=2"))
            .address
            .unwrap()
            .1,
        port
    );
    // Several hosts need an address.
    assert_eq!(
        launch(&format!("{vars} OMPI_COMM_WORLD_LOCAL_SIZE=1")).address,
        None
    );
    let found = launch(&format!("{vars} MASTER_ADDR=a MASTER_PORT=5"));
    assert_eq!(found.address, Some(("a".into(), 5)));
}

#[test]
fn hydra_and_slurm() {
    let found = launch("PMI_RANK=2 PMI_SIZE=3 MPI_LOCALRANKID=0");
    assert_eq!(
        (found.launcher, found.rank, found.local_rank),
        ("Hydra", 2, 0)
    );
    assert!(
        refused("PMI_RANK=2 PMI_SIZE=3")
            .contains("Hydra: the environment variable MPI_LOCALRANKID is not set")
    );
    // srun with an interface of MPI.
    let slurm = "SLURM_PROCID=5 SLURM_STEP_NUM_TASKS=8 SLURM_LOCALID=1 SLURM_JOB_ID=77 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=gpu[03-04,9],x PMI_RANK=5 PMI_SIZE=8";
    let found = launch(slurm);
    assert_eq!(
        (found.launcher, found.rank, found.size, found.local_rank),
        ("Slurm", 5, 8, 1)
    );
    assert_eq!(found.address.unwrap().0, "gpu03");
    assert_eq!(found.token, "Slurm 77.0");
}

#[test]
fn lists_of_hosts() {
    for (list, first) in [
        ("a", Some("a")),
        ("a,b", Some("a")),
        ("n[1-3]", Some("n1")),
        ("n[07,09-11].x,m", Some("n07.x")),
        ("n[2]-ib,b", Some("n2-ib")),
        ("", None),
        ("n[", None),
    ] {
        assert_eq!(first_host(list).as_deref(), first, "{list}");
    }
}
