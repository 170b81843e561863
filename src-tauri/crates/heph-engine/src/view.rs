//! Views: the states of the core, as a front end shows them. No decision is made here.

use heph_core::{
    constraint::{Constraint, Standing},
    diff::{ChangedLine, FileHunks, Hunk, Item, LineRange, is_text},
    path::RepoPath,
    refusal::cannot_be_accepted,
    review::{Comment, Place, Review, Side, Subject, Verdict, runs_on_your_machine},
    split::split_rows,
    turn::{self, Ending, EndingKind, GateRun, Phase, Tally, Turn},
};
use heph_wire as wire;
use wire::{Counts, HunkView, Message, PhaseName, WirePath};

use crate::{colours::Colours, rows, rows::Sides};

/// Where a turn is, in the words of the protocol.
pub fn phase(phase: &Phase) -> PhaseName {
    match phase {
        Phase::Snapshot => PhaseName::Snapshot,
        Phase::Setup => PhaseName::Setup,
        Phase::Model => PhaseName::Model,
        Phase::Held(held) => self::phase(&held.from),
        Phase::Reading | Phase::Screening(_) => PhaseName::Screen,
        Phase::Gates { .. } => PhaseName::Gates,
        Phase::Review(_) => PhaseName::Review,
        Phase::Composing { .. } | Phase::AcceptedGates(_) => PhaseName::AcceptedGates,
        Phase::Red | Phase::Reopening => PhaseName::Red,
        Phase::Apply => PhaseName::Apply,
        Phase::Ended(_) => PhaseName::Ended,
    }
}

/// Why a turn is held.
pub fn held(phase: &Phase) -> Option<wire::Held> {
    match phase {
        Phase::Held(held) => {
            let (cause, output) = match &held.cause {
                turn::Cause::Failed | turn::Cause::PartWritten => (wire::HeldCause::Failed, ""),
                // What was cut off before the model had its prompt goes on as a setup does.
                turn::Cause::CutOff if *held.from == Phase::Setup => (wire::HeldCause::Setup, ""),
                turn::Cause::CutOff => (wire::HeldCause::CutOff, ""),
                turn::Cause::Setup { output } => (wire::HeldCause::Setup, output.as_str()),
            };
            let output = heph_core::message::without_colours(output);
            Some(wire::Held { reason: held.reason.clone(), cause, output })
        }
        _ => None,
    }
}

/// Whether the turn waits for the user's word on a setup: the model has not had the prompt yet.
pub fn is_held_setup(phase: &Phase) -> bool {
    matches!(phase, Phase::Held(held) if *held.from == Phase::Setup)
}

/// The turn's gates before any has run.
pub fn gates_not_run(turn: &Turn) -> Vec<wire::GateView> {
    let not_run = |name: &String| wire::GateView {
        name: name.clone(),
        result: wire::GateResult::NotRun,
        seconds: None,
        output: String::new(),
        reason: None,
        put_back: Vec::new(),
    };
    turn.settings().gates.iter().map(not_run).collect()
}

/// The turn's gates and their latest results.
pub fn gates(turn: &Turn) -> Vec<wire::GateView> {
    let mut gates = gates_not_run(turn);
    for gate in &mut gates {
        if let Some(run) = turn.gates().iter().find(|run| run.name == gate.name) {
            *gate = wire::GateView {
                name: run.name.clone(),
                result: gate_result(turn, run),
                seconds: Some(run.seconds),
                output: heph_core::message::without_colours(&run.output),
                reason: match &run.result {
                    turn::GateResult::CouldNotRun { reason } => Some(reason.clone()),
                    _ => None,
                },
                put_back: run.put_back.iter().map(wire_path).collect(),
            };
        }
    }
    gates
}

fn gate_result(turn: &Turn, run: &GateRun) -> wire::GateResult {
    match run_result(run) {
        wire::GateResult::Red if turn.is_red_before(&run.name) => wire::GateResult::RedBefore,
        result => result,
    }
}

/// The result of one run, whatever it was before.
pub fn run_result(run: &GateRun) -> wire::GateResult {
    match run.result {
        turn::GateResult::Green => wire::GateResult::Green,
        turn::GateResult::Red { .. } => wire::GateResult::Red,
        turn::GateResult::CouldNotRun { .. } => wire::GateResult::CouldNotRun,
        turn::GateResult::Stopped => wire::GateResult::Stopped,
    }
}

/// A finished review, as an entry of the conversation.
pub fn reviewed(turn: u32, round: u32, tally: &Tally) -> Message {
    Message::Reviewed {
        turn,
        round,
        accepted: tally.accepted as u32,
        rejected: tally.rejected as u32,
        undecided: tally.undecided as u32,
        comments: tally.comments as u32,
        reproposed: tally.reproposed as u32,
    }
}

/// A turn's ending.
pub fn turn_ended(turn: u32, ending: &Ending) -> wire::TurnEnded {
    let name = match ending.kind {
        EndingKind::Failed => wire::EndingName::Failed,
        EndingKind::Red { .. } => wire::EndingName::Red,
        EndingKind::Interrupted => wire::EndingName::Interrupted,
        EndingKind::Floor => wire::EndingName::Floor,
        EndingKind::Refused => wire::EndingName::Refused,
        EndingKind::Stopped { .. } => wire::EndingName::Stopped,
        EndingKind::OutOfRounds => wire::EndingName::OutOfRounds,
        EndingKind::Applied => wire::EndingName::Applied,
        EndingKind::Reviewed => wire::EndingName::Reviewed,
        // The protocol has no name of its own for a turn of which nothing landed.
        EndingKind::Answered | EndingKind::NothingApplied => wire::EndingName::Answered,
    };
    wire::TurnEnded {
        turn,
        ending: name,
        applied: ending
            .applied
            .iter()
            .map(|(path, hunks)| wire::AppliedFile { path: wire_path(path), hunks: *hunks })
            .collect(),
        set_aside: ending.set_aside.iter().map(|(path, _)| wire_path(path)).collect(),
        reproposals: ending.reproposals,
        rounds: ending.rounds,
        can_undo: !ending.written.is_empty(),
        message: ending.line(),
    }
}

/// A path on the wire.
pub fn wire_path(path: &RepoPath) -> WirePath {
    WirePath(path.as_bytes().to_vec())
}

/// Whether hunks carry their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithRows {
    /// They do.
    Yes,
    /// The front end asks for them page by page.
    No,
}

/// The open review of `turn`; `old_file` gives a file's bytes in the accepted state.
pub fn review<E>(
    turn: &Turn,
    review: &Review,
    revision: u64,
    with_rows: WithRows,
    colours: &Colours,
    old_file: impl Fn(&RepoPath) -> Result<Vec<u8>, E>,
) -> Result<wire::Review, E> {
    Ok(wire::Review {
        of: match review.subject() {
            Subject::Round => wire::Reviewed::Round,
            Subject::Accepted => wire::Reviewed::Accepted,
            Subject::Tree => wire::Reviewed::Tree,
        },
        round: turn.round().0,
        revision,
        interrupted: turn.is_interrupted(),
        last: turn.is_last_round(),
        decidable: matches!(turn.phase(), Phase::Review(_)),
        accepted_so_far: accepted_so_far(turn),
        brief: brief(turn, review, colours),
        constraints: turn.constraints().iter().map(constraint).collect(),
        files: file_views(turn, review, with_rows, colours, old_file)?,
    })
}

fn accepted_so_far(turn: &Turn) -> Vec<wire::AppliedFile> {
    let files = turn.accepted_so_far().iter();
    files.map(|(path, hunks)| wire::AppliedFile { path: wire_path(path), hunks: *hunks }).collect()
}

fn brief(turn: &Turn, review: &Review, colours: &Colours) -> wire::Brief {
    let refused = review.refused().map(|(reproposal, hunk)| (reproposal, hunk, true));
    let earlier = turn.refused_earlier().iter().map(|(reproposal, hunk)| (reproposal, hunk, false));
    let reproposed = refused.chain(earlier).map(|(reproposal, hunk, askable)| wire::ReproposedView {
        id: hunk.id.to_string(),
        path: wire_path(&hunk.path),
        what: hunk.what(),
        round: reproposal.round.0,
        share: reproposal.share,
        rows: rows::quoted(colours, hunk),
        matched: turn.matched_lines(reproposal, hunk).into_iter().map(|row| row as u32).collect(),
        rationale: hunk.rationale.clone(),
        askable,
    });
    let set_aside = turn.applied().iter().filter_map(|file| {
        let aside = file.set_aside.as_ref()?;
        Some(wire::SetAsideView { path: wire_path(&file.path), reason: aside.reason.to_string() })
    });
    wire::Brief {
        summary: turn.words().to_owned(),
        attempts: turn.attempt(),
        gates: gates(turn),
        reproposed: reproposed.collect(),
        set_aside: set_aside.collect(),
        ignored: turn.ignored().iter().map(wire_path).collect(),
    }
}

fn constraint(constraint: &Constraint) -> wire::ConstraintView {
    wire::ConstraintView {
        id: constraint.id.to_string(),
        path: wire_path(constraint.path()),
        round: constraint.round.0,
        comments: constraint.comments.clone(),
        lifted: constraint.standing == Standing::Lifted,
    }
}

fn file_view(
    turn: &Turn,
    review: &Review,
    file: &FileHunks,
    sides: Option<&Sides>,
    colours: &Colours,
) -> wire::FileView {
    let hunks: Vec<HunkView> = file
        .hunks
        .iter()
        .enumerate()
        .map(|(index, hunk)| hunk_view(turn, review, hunk, index as u32 + 1, sides, colours))
        .collect();
    let sum = |of: fn(&Counts) -> u32| hunks.iter().map(|hunk| of(&hunk.counts)).sum();
    wire::FileView {
        path: wire_path(&file.path),
        old_path: file.hunks.first().and_then(|hunk| hunk.old_path.as_ref()).map(wire_path),
        change: change_name(&file.hunks),
        marked: marked(file),
        editable: review.subject() != Subject::Tree && file.hunks.iter().all(is_editable),
        counts: Counts { added: sum(|counts| counts.added), removed: sum(|counts| counts.removed) },
        hunks,
    }
}

/// Whether the file that a hunk is of can be edited as text once the hunk is in it.
fn is_editable(hunk: &Hunk) -> bool {
    match &hunk.item {
        Item::Lines { .. } | Item::Mode { .. } | Item::Rename | Item::LineEndings { .. } => true,
        Item::Create(file) => is_text(file) && std::str::from_utf8(&file.bytes.0).is_ok(),
        Item::Delete(_) | Item::Replace { .. } => false,
    }
}

/// What earlier rounds accepted, as one diff against the base.
pub fn accepted<E>(
    turn: &Turn,
    files: Vec<FileHunks>,
    with_rows: WithRows,
    colours: &Colours,
    old_file: impl Fn(&RepoPath) -> Result<Vec<u8>, E>,
) -> Result<Vec<wire::FileView>, E> {
    // Shown as a review is, with nothing decided.
    let review = Review::new(Subject::Accepted, files, Vec::new());
    file_views(turn, &review, with_rows, colours, old_file)
}

fn file_views<E>(
    turn: &Turn,
    review: &Review,
    with_rows: WithRows,
    colours: &Colours,
    old_file: impl Fn(&RepoPath) -> Result<Vec<u8>, E>,
) -> Result<Vec<wire::FileView>, E> {
    let mut files = Vec::new();
    for file in review.files().iter() {
        let sides = match with_rows {
            WithRows::Yes => Some(Sides::of(colours, file, &old_file(source(file))?)),
            WithRows::No => None,
        };
        files.push(file_view(turn, review, file, sides.as_ref(), colours));
    }
    Ok(files)
}

/// Where the file lay in the state that is changed.
fn source(file: &FileHunks) -> &RepoPath {
    file.hunks.first().map_or(&file.path, Hunk::source)
}

/// Why *Accept all* leaves a file out, where it does.
fn marked(file: &FileHunks) -> Option<String> {
    let refused = || file.hunks.iter().find_map(cannot_be_accepted);
    let runs = || file.hunks.iter().find_map(runs_on_your_machine);
    refused()
        .map(|reason| format!("cannot be accepted: {reason}"))
        .or_else(|| runs().map(|reason| format!("runs on your machine: {reason}")))
}

fn change_name(hunks: &[Hunk]) -> wire::ChangeName {
    let name = |hunk: &Hunk| match &hunk.item {
        Item::Lines { .. } => wire::ChangeName::Modified,
        Item::Create(_) => wire::ChangeName::Added,
        Item::Delete(_) => wire::ChangeName::Deleted,
        Item::Mode { .. } => wire::ChangeName::Mode,
        Item::Rename => wire::ChangeName::Renamed,
        Item::LineEndings { .. } => wire::ChangeName::LineEndings,
        Item::Replace { old, new } if old.is_link() || new.is_link() => wire::ChangeName::Symlink,
        Item::Replace { .. } => wire::ChangeName::Binary,
    };
    // A mode change is shown as one only where nothing else of the file changed.
    let names: Vec<wire::ChangeName> = hunks.iter().map(name).collect();
    let telling = names.iter().copied().find(|name| *name != wire::ChangeName::Mode);
    telling.unwrap_or(wire::ChangeName::Mode)
}

fn hunk_view(
    turn: &Turn,
    review: &Review,
    hunk: &Hunk,
    number: u32,
    sides: Option<&Sides>,
    colours: &Colours,
) -> HunkView {
    let pair = |range: LineRange| match range.count {
        0 => (0, 0),
        _ => (range.first as u32, range.last() as u32),
    };
    let changed = hunk.changed_lines();
    let added = changed.iter().filter(|line| matches!(line, ChangedLine::Added(_))).count();
    let (old, new, header) = match &hunk.item {
        Item::Lines { old, new, .. } => {
            let header =
                format!("@@ -{},{} +{},{} @@ {}", old.first, old.count, new.first, new.count, hunk.heading);
            (pair(*old), pair(*new), header.trim_end().to_owned())
        }
        Item::Create(_) => {
            let lines = changed.len() as u32;
            ((0, 0), (lines.min(1), lines), String::new())
        }
        Item::Delete(_) => {
            let lines = changed.len() as u32;
            ((lines.min(1), lines), (0, 0), String::new())
        }
        Item::Mode { .. } | Item::Replace { .. } | Item::Rename | Item::LineEndings { .. } => {
            ((0, 0), (0, 0), String::new())
        }
    };
    let answers = turn.answered_by(hunk).map(|constraint| wire::Answered {
        round: constraint.round.0,
        rows: rows::quoted(colours, &constraint.hunk),
        comments: constraint.comments.clone(),
        unchanged: constraint.hunk.is_same_change(hunk),
    });
    HunkView {
        id: hunk.id.to_string(),
        number,
        what: hunk.what(),
        old,
        new,
        header,
        context: hunk.heading.clone(),
        row_count: rows::count(hunk) as u32,
        split_at: split_rows(hunk).into_iter().map(|row| row as u32).collect(),
        changes_your_edit: turn.changes_own_lines(hunk),
        copy_of: turn
            .copied_from(hunk)
            .map(|constraint| wire::CopyOf { path: wire_path(constraint.path()), round: constraint.round.0 }),
        rows: sides.map(|sides| sides.rows(hunk, 0, usize::MAX)),
        counts: Counts { added: added as u32, removed: (changed.len() - added) as u32 },
        rationale: hunk.rationale.clone(),
        answers,
        verdict: match review.verdict(&hunk.id) {
            _ if review.edited(&hunk.path).is_some() => Some(wire::VerdictView::Edited),
            Some(Verdict::Accepted) => Some(wire::VerdictView::Accept),
            Some(Verdict::Rejected) => Some(wire::VerdictView::Reject),
            None => None,
        },
        comments: review.comments_on(&hunk.id).map(comment).collect(),
    }
}

fn comment(comment: &Comment) -> wire::CommentView {
    let (line, side) = match comment.place {
        Place::Hunk => (None, None),
        Place::Line { side: Side::New, line } => (Some(line), Some(wire::Side::New)),
        Place::Line { side: Side::Old, line } => (Some(line), Some(wire::Side::Old)),
    };
    wire::CommentView { id: comment.id.to_string(), text: comment.text.clone(), line, side }
}
