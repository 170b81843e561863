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
    a_rejected_deletion_keeps_the_file
    a_rejected_new_file_is_gone_from_the_worktree
    an_accepted_answer_is_set_aside_and_redone
    git_add_of_the_models_hides_no_file
    rejecting_the_first_of_three_leaves_the_others_in_place
    the_user_commits_the_same_change_during_the_review
    the_user_deletes_the_file_during_the_review
    the_user_made_the_same_change_during_the_review
    the_user_renames_the_file_during_the_review
    the_user_replaces_the_file_with_a_folder_during_the_review
    the_user_reverts_the_file_during_the_review
    the_user_switches_branch_during_the_review
    verdicts_and_constraints_survive_lines_that_shift
    what_the_model_commits_is_reviewed
    what_the_model_stashes_and_takes_back_is_reviewed
    what_the_model_stashes_away_is_not_reviewed
}
