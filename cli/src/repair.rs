//! `spanlog repair`: mends what a verification finds, and tells what it will do before it does it.

use clap::Args;
use serde_json::json;
use spanlog::{RepairAction, RepairPlan, Verification};

use crate::failure::{Failure, Outcome};
use crate::opening::{StoreArgs, Target};
use crate::output::Output;
use crate::report;
use crate::verify::{drive, finding_json, print_finding};

const AFTER_HELP: &str = "\
Examples:
  spanlog repair --root /data/log            # shows what it would do, and does nothing
  spanlog repair --root /data/log --apply

The store is verified first. Then, with --apply: a segment file of the wrong length gets the
right one; damaged bytes in the middle of the log are padded over, so that readers pass them by;
what a crash left at the end is cut; queues, key index, offsets, marks and checkpoint are derived
and written anew; a cursor keeps what is whole of it, and a queue whose page is lost begins anew.
Whatever is cut or padded over is saved before, byte for byte, in a file under
.spanlog/saved, and files that are replaced are set aside under .spanlog/aside. At the end the
store is verified again.

Exit code: 0 when nothing is left to do, 1 when something is: without --apply what would be
done, with it what is beyond repair.

In JSON the answer is one object: applied, actions: [{action, path, range, text}], saved,
findings, beyond, sound.";

/// Which store to mend.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct RepairArgs {
    /// Does it
    #[arg(long)]
    pub apply: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// How often a repair may lead to another: a file that got its length back has damage to be told.
const MOST_ROUNDS: usize = 3;

/// What was done so far.
#[derive(Debug, Default)]
struct Done {
    actions: Vec<RepairAction>,
    saved: Vec<std::path::PathBuf>,
}

/// Mends.
///
/// # Errors
/// `Damaged` if something is left to do; what the store says.
pub fn run(args: &RepairArgs, output: &mut Output) -> Outcome<()> {
    let target = args.store.target()?;
    let mut done = Done::default();
    let (mut told, mut plan) = look(&target, output)?;
    if !output.is_json() {
        told.findings().iter().try_for_each(|finding| print_finding(finding, output))?;
        print_plan(&plan, args.apply, output)?;
    }
    for _ in 0..MOST_ROUNDS {
        if !args.apply || plan.is_empty() {
            break;
        }
        done.actions.extend_from_slice(plan.actions());
        let spinner = output.spinner("mending");
        let repaired = plan.apply();
        spinner.finish_and_clear();
        done.saved.extend(repaired?.saved);
        (told, plan) = look(&target, output)?;
    }
    match output.is_json() {
        true => output.object(&to_json(args.apply, &done, &told, &plan))?,
        false => print_end(args.apply, &done, &told, &plan, output)?,
    }
    let is_left = !plan.is_empty() || !told.is_sound();
    if is_left { Err(Failure::damaged()) } else { Ok(()) }
}

fn look(target: &Target, output: &Output) -> Outcome<(Verification, RepairPlan)> {
    let mut verification = Verification::new(&target.root, &target.options)?;
    drive(&mut verification, output)?;
    let plan = RepairPlan::of(&verification)?;
    Ok((verification, plan))
}

fn print_plan(plan: &RepairPlan, applies: bool, output: &mut Output) -> Outcome<()> {
    if plan.is_empty() {
        return Ok(());
    }
    output.heading(if applies { "What is done" } else { "What --apply would do" })?;
    for (number, action) in plan.actions().iter().enumerate() {
        output.line(format_args!("  {}. {action}", number + 1))?;
    }
    Ok(())
}

fn print_end(
    applied: bool,
    done: &Done,
    told: &Verification,
    plan: &RepairPlan,
    output: &mut Output,
) -> Outcome<()> {
    for path in &done.saved {
        output.line(format_args!("saved  {}", path.display()))?;
    }
    if !plan.beyond().is_empty() {
        output.heading("Beyond repair")?;
        plan.beyond().iter().try_for_each(|finding| print_finding(finding, output))?;
    }
    let text = match (applied && !done.actions.is_empty(), plan.is_empty(), told.is_sound()) {
        (true, true, true) => "mended: the store is sound",
        (false, true, true) => "nothing to do: the store is sound",
        (_, true, false) => "nothing that can be mended",
        (_, false, _) => "nothing was changed",
    };
    output.line(text)
}

fn to_json(
    applied: bool,
    done: &Done,
    told: &Verification,
    plan: &RepairPlan,
) -> serde_json::Value {
    let shown = if applied { &done.actions[..] } else { plan.actions() };
    let action = |action: &RepairAction| {
        let (path, range) = action.place();
        json!({
            "action": action.name(),
            "path": path.map(report::path),
            "range": range.as_ref().map(report::range),
            "text": action.to_string(),
        })
    };
    json!({
        "applied": applied,
        "actions": shown.iter().map(action).collect::<Vec<_>>(),
        "saved": done.saved.iter().map(|path| report::path(path)).collect::<Vec<_>>(),
        "findings": told.findings().iter().map(finding_json).collect::<Vec<_>>(),
        "beyond": plan.beyond().iter().map(finding_json).collect::<Vec<_>>(),
        "sound": told.is_sound(),
    })
}
