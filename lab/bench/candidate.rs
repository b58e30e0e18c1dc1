//! A candidate row of a model.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};
use vksort::{Ballot, RankMethod, Tuning};

/// What a candidate changes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Candidate {
    pub workgroup_size: u32,
    pub items: u32,
    pub subgroup_size: u32,
    #[serde(deserialize_with = "named")]
    pub rank: RankMethod,
    #[serde(deserialize_with = "named")]
    pub ballot: Ballot,
    pub few_registers: bool,
}

/// A method by its name.
pub fn named<'de, D: Deserializer<'de>, T: FromStr<Err = vksort::Error>>(deserializer: D) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
}

impl Candidate {
    pub fn change(self, row: Tuning) -> Tuning {
        let Candidate { workgroup_size, items, subgroup_size, rank, ballot, few_registers } = self;
        let (items_keys, items_pairs) = (items, items);
        let subgroup_size = Some(subgroup_size);
        Tuning { workgroup_size, items_keys, items_pairs, subgroup_size, rank, ballot, few_registers, ..row }
    }

    pub fn name(self) -> String {
        let Candidate { workgroup_size, items, subgroup_size, rank, ballot, few_registers } = self;
        let mut name = format!("{workgroup_size} x {items} / {subgroup_size} {rank:?}");
        if rank == RankMethod::Ballot {
            name += &format!(" {ballot:?}");
        }
        if few_registers {
            name += " few registers";
        }
        name
    }
}
