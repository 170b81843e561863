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
    rejecting_the_first_of_three_leaves_the_others_in_place
}
