//! Verification, and repair of what it found.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde_json::json;
use spanlog::{RepairPlan, Verification};

use crate::answers;
use crate::failure::{guarded, invalid};
use crate::given::{self, Given};
use crate::work::Work;

/// A verification between two of its steps.
#[napi]
pub struct NativeVerification(Arc<Mutex<Verification>>);

/// What mending a store takes, until it is done.
#[napi]
pub struct NativeRepairPlan(RefCell<Option<RepairPlan>>);

/// A verification of the store at a root, which is read only.
#[napi(catch_unwind)]
pub fn verification(root: String, options: String) -> Result<NativeVerification> {
    guarded(|| Verification::new(root, &given::options(&Given::parse(&options)?)?))
        .map(NativeVerification::new)
}

impl NativeVerification {
    pub fn new(verification: Verification) -> Self {
        Self(Arc::new(Mutex::new(verification)))
    }
}

fn locked(verification: &Mutex<Verification>) -> MutexGuard<'_, Verification> {
    verification.lock().unwrap_or_else(PoisonError::into_inner)
}

#[napi]
impl NativeVerification {
    /// Reads on a little: how far it is, or at the end what it found.
    #[napi(catch_unwind)]
    pub fn step(&self) -> AsyncTask<Work> {
        let verification = Arc::clone(&self.0);
        Work::start(move || {
            let mut verification = locked(&verification);
            Ok(match verification.step()? {
                None => answers::verification(&verification),
                Some(now) => {
                    json!({ "part": now.part.name(), "done": now.done, "total": now.total })
                }
            })
        })
    }

    /// What mending takes; all steps must have run.
    #[napi(catch_unwind)]
    pub fn plan(&self) -> Result<NativeRepairPlan> {
        let plan = guarded(|| RepairPlan::of(&locked(&self.0)))?;
        Ok(NativeRepairPlan(RefCell::new(Some(plan))))
    }
}

#[napi]
impl NativeRepairPlan {
    /// What will be done, and what cannot be.
    #[napi(catch_unwind)]
    pub fn describe(&self) -> Result<String> {
        let plan = self.0.borrow();
        guarded(|| Ok(answers::repair_plan(plan.as_ref().ok_or_else(applied)?).to_string()))
    }

    /// Does it, once.
    #[napi(catch_unwind)]
    pub fn apply(&self) -> AsyncTask<Work> {
        let plan = self.0.take();
        Work::start(|| Ok(answers::repaired(&plan.ok_or_else(applied)?.apply()?)))
    }
}

fn applied() -> spanlog::Error {
    invalid("the plan was applied: verify again for another")
}
