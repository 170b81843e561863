//! The scenarios of `tests/data/scenarios`, each a test of its own.

use std::{collections::BTreeSet, path::PathBuf};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/data/scenarios"))
}

macro_rules! scenarios {
    ($($name:ident)+) => {
        $(
            #[test]
            fn $name() {
                let name = concat!(stringify!($name), ".scenario");
                let source = std::fs::read_to_string(folder().join(name)).unwrap();
                heph_testkit::play(name, &source, env!("CARGO_BIN_EXE_heph-serve"));
            }
        )+

        #[test]
        fn every_scenario_is_a_test() {
            let files = std::fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
            let files: BTreeSet<String> =
                files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
            assert_eq!(files, BTreeSet::from([$(stringify!($name).to_owned()),+]));
        }
    };
}

scenarios! {
    a_branch_of_the_models_changes_nothing_in_the_review
    a_commented_rejection_is_a_constraint_from_the_round_after_its_answer
    a_constraint_follows_a_rename
    a_constraint_follows_a_rename_that_the_user_edited
    a_copy_split_in_two_is_one_reproposal
    a_failed_setup_ends_the_turn
    a_failed_setup_holds_the_turn_and_can_be_skipped
    a_failed_setup_is_run_again
    a_file_under_an_ignored_path_is_named_and_not_reviewed
    a_gate_that_is_not_found_holds_up_nothing
    a_gate_that_is_red_on_the_accepted_part_only_goes_back_to_the_model
    a_gate_that_runs_too_long_holds_up_nothing
    a_hunk_that_is_staged_otherwise_stays_staged_and_is_named
    a_last_round_ends_out_of_rounds
    a_model_that_fails_is_asked_again
    a_model_that_was_cut_off_goes_on_only_when_asked
    a_new_file_is_edited_in_the_review
    a_question_is_answered
    a_red_gate_sends_the_model_back_before_the_user_is_asked
    a_refused_rename_is_not_made_by_editing_the_file
    a_reindented_and_moved_copy_is_a_reproposal
    a_rejected_deletion_keeps_the_file
    a_rejected_new_file_is_gone_from_the_worktree
    a_rename_is_accepted_and_the_edit_under_it_rejected
    a_rename_is_rejected_and_the_edit_under_it_accepted
    a_review_is_as_it_was_after_a_kill
    a_review_of_ones_own_tree_survives_a_kill
    a_split_an_edit_and_a_hunk_taken_back_survive_a_kill
    a_split_hunk_is_rejected_in_one_part_and_only_that_part_is_a_constraint
    a_staged_hunk_rejected_in_a_review_of_ones_own_tree_leaves_tree_and_index
    a_turn_is_undone_while_nothing_has_changed
    a_verdict_can_be_cleared_and_comments_alone_start_a_round
    an_accepted_answer_is_set_aside_and_redone
    an_answer_to_a_comment_is_shown_and_accepting_it_lifts_the_constraint
    an_edited_file_is_told_with_its_comments
    an_interrupt_of_the_gates_on_what_was_accepted_leads_to_the_red_choice
    an_interrupt_of_the_gates_opens_the_review_of_what_is_there
    an_interrupt_with_nothing_at_all_ends_at_once
    an_interrupt_with_nothing_new_asks_about_what_was_accepted
    an_interrupt_with_nothing_new_can_discard_what_was_accepted
    an_unchanged_copy_in_the_answering_round_is_shown_as_such
    another_change_of_the_same_lines_is_no_reproposal
    asking_about_a_reproposal_and_lifting_a_constraint_take_them_back
    closing_a_review_of_ones_own_tree_changes_nothing
    ending_a_turn_whose_model_failed_keeps_what_was_accepted
    gates_are_those_of_the_users_tree_when_the_turn_started
    gates_that_were_not_agreed_to_do_not_run
    git_add_of_the_models_hides_no_file
    line_ends_and_a_missing_last_one_survive
    red_and_discarded_is_told_with_the_next_prompt
    red_and_edited_survives_a_kill
    red_and_edited_until_it_is_green
    red_and_green_when_run_again
    red_before_the_turn_holds_up_nothing
    red_until_the_rounds_are_used_up_and_applied_anyway
    refusing_the_rest_follows_the_ordinary_rules
    refusing_the_second_brief_applies_what_the_first_accepted
    rejecting_the_first_of_three_leaves_the_others_in_place
    stopping_partway_applies_what_was_accepted_and_says_what_was_not_reached
    stopping_with_all_decided_applies_and_gives_no_round
    the_user_commits_the_same_change_during_the_review
    the_user_deletes_the_file_during_the_review
    the_user_made_the_same_change_during_the_review
    the_user_renames_the_file_during_the_review
    the_user_replaces_the_file_with_a_folder_during_the_review
    the_user_reverts_the_file_during_the_review
    the_user_switches_branch_during_the_review
    two_reproposals_at_once_reach_the_floor_and_the_rest_is_still_reviewed
    two_set_asides_in_one_file
    undo_takes_back_what_the_user_has_not_changed_since
    verdicts_and_constraints_survive_lines_that_shift
    what_a_failing_model_left_is_reviewed
    what_a_gate_writes_is_put_back_and_named
    what_a_model_that_was_cut_off_left_is_reviewed
    what_earlier_rounds_accepted_is_taken_back
    what_runs_on_the_users_machine_is_not_accepted_with_the_rest
    what_the_model_commits_is_reviewed
    what_the_model_stashes_and_takes_back_is_reviewed
    what_the_model_stashes_away_is_not_reviewed
    where_everything_is_reproposed_no_review_opens_until_the_floor
}
