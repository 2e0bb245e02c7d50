//! Shared state of the trials: the device, the data, and the right answers.

use std::any::Any;
use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex};

use kernels_sim::oracle::Expected;
use libtest_mimic::{Completion, Failed, Trial};
use rand::SeedableRng;
use rand::rngs::StdRng;
use warpfold::{Buffer, Device, Error};

use crate::oracle::{Oracle, Subject};
use crate::sizes::{LARGEST, SPARE};

pub struct Lab {
    device: Result<Device, Error>,
    pub seed: u64,
    /// A light run: `WARPFOLD_LIGHT`.
    pub light: bool,
    /// No other trial runs, so the free memory can be compared: `WARPFOLD_ALONE`.
    pub alone: bool,
    /// One [`Data`] per element type, by the type's name.
    data: Mutex<HashMap<&'static str, Arc<dyn Any + Send + Sync>>>,
}

/// Random elements on the host and on the device.
pub struct Data<T: Subject> {
    pub rough: Set<T>,
    pub whole: Set<T>,
}

pub struct Set<T: Subject> {
    pub host: Vec<T>,
    pub device: Buffer<T>,
    /// Right answers, cached because many kernels need the same ones.
    answers: Mutex<HashMap<AnswerKey, Expected<T>>>,
}

/// Operator, start and n.
type AnswerKey = (&'static str, usize, usize);

impl Lab {
    pub fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            device: Device::first(),
            seed,
            light: env::var_os("WARPFOLD_LIGHT").is_some(),
            alone: env::var_os("WARPFOLD_ALONE").is_some(),
            data: Mutex::default(),
        })
    }

    pub fn device(&self) -> Result<&Device, &Error> {
        self.device.as_ref()
    }

    /// The reason why there is no device; `None` for a device that exists but does not work.
    pub fn absent(&self) -> Option<&Error> {
        match &self.device {
            Err(error @ (Error::NoDriver { .. } | Error::NoDevice { .. })) => Some(error),
            _ => None,
        }
    }

    /// A trial that needs the device: ignored without one, failed if it is broken.
    pub fn trial(
        self: &Arc<Self>,
        name: impl Into<String>,
        test: impl FnOnce(&Lab, &Device) -> Result<Completion, Failed> + Send + 'static,
    ) -> Trial {
        let lab = Arc::clone(self);
        Trial::ignorable_test(name, move || match &lab.device {
            Ok(device) => test(&lab, device),
            Err(_) if lab.absent().is_some() => Ok(Completion::ignored_with("no CUDA device")),
            Err(error) => Err(error.into()),
        })
    }

    pub fn data<T: Subject>(&self) -> Result<Arc<Data<T>>, Failed> {
        let mut data = self.data.lock().unwrap();
        if let Some(known) = data.get(T::NAME) {
            return Ok(Arc::clone(known)
                .downcast()
                .expect("the name is the type's"));
        }
        let device = self.device.as_ref().map_err(Error::clone)?;
        let mut rng = StdRng::seed_from_u64(self.seed);
        let mut set = |element: fn(&mut StdRng) -> T| -> Result<Set<T>, Error> {
            let host: Vec<T> = (0..LARGEST + SPARE).map(|_| element(&mut rng)).collect();
            Ok(Set {
                device: device.upload(&host)?,
                host,
                answers: Mutex::default(),
            })
        };
        let new = Arc::new(Data {
            rough: set(T::rough)?,
            whole: set(T::whole)?,
        });
        data.insert(T::NAME, new.clone());
        Ok(new)
    }
}

impl<T: Subject> Set<T> {
    pub fn answer<O: Oracle<T>>(&self, start: usize, n: usize) -> Expected<T> {
        let key = (O::NAME, start, n);
        if let Some(known) = self.answers.lock().unwrap().get(&key) {
            return *known;
        }
        let answer = O::expected(&self.host[start..start + n]);
        self.answers.lock().unwrap().insert(key, answer);
        answer
    }
}
