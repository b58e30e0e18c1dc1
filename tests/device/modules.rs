//! Every module that the device can run sorts once. Which request leads to a module follows from the rows of the kernels.

use std::fmt;

use vksort::__private::kernels::{self, Module, Ranking, Sorts};
use vksort::__private::steps::{self, HostStep};
use vksort::__private::{Faults, ShapeDesc};
use vksort::{
    Access, Algorithm, Count, DeviceProfile, KeyType, RankMethod, SortRequest, SorterOptions, SubgroupChoice, Tuning,
    ValueType,
};
use vksort_testing::arena::Arena;
use vksort_testing::patterns::Pattern;
use vksort_testing::suite::{self, Case};
use vksort_testing::{Failed, Trial, assert_valid, gpu};

use super::records;
/// A sort that is asked for explicitly.
#[derive(Clone, Copy, Debug)]
struct Way {
    request: SortRequest,
    algorithm: Algorithm,
    /// The ranking method, if it is not that of the row.
    rank: Option<RankMethod>,
    emulated: bool,
    addressed: bool,
    /// Whether the device is taken for one without storage of 8 and 16 bits.
    whole_words: bool,
}

/// Lanes of emulated subgroups.
const EMULATED: u32 = 8;
/// Blocks of elements beyond the first.
const BLOCKS: u32 = 3;

impl Way {
    fn tuning(&self) -> Tuning {
        let tuning = suite::small_blocks();
        Tuning { rank: self.rank.unwrap_or(tuning.rank), ..tuning }
    }

    fn subgroup(&self) -> SubgroupChoice {
        if self.emulated { SubgroupChoice::Emulated(EMULATED) } else { SubgroupChoice::Auto }
    }

    /// The number of elements, and the modules that sort them; `None` where the device does not sort in this way.
    fn modules(&self, profile: &DeviceProfile) -> Option<(u32, Vec<Module>)> {
        if self.addressed && !profile.buffer_addresses {
            return None;
        }
        let tuning = self.tuning();
        let profile = &DeviceProfile { small_storage: profile.small_storage && !self.whole_words, ..profile.clone() };
        let desc = ShapeDesc {
            subgroup: self.subgroup(),
            addressed: self.addressed,
            ..ShapeDesc::new(profile, &tuning, &self.request, self.algorithm)
        };
        let shape = steps::of(&desc, 0, Count::Host(0)).ok()?.shape;
        let count = match self.algorithm {
            Algorithm::SingleWorkgroup => shape.single.elements(),
            _ => BLOCKS * shape.tile.elements() + 1,
        };
        // The steps of a count that the device has are those of every count.
        let steps = steps::of(&desc, count, Count::Device).ok()?.steps;
        let modules = steps.into_iter().filter_map(|step| match step {
            HostStep::Dispatch(dispatch) => Some(dispatch.module),
            HostStep::Clear { .. } => None,
        });
        Some((count, modules.collect()))
    }

    fn sort(&self) -> Result<(), Failed> {
        let options = SorterOptions::default()
            .tuning(self.tuning())
            .subgroup(self.subgroup())
            .faults(Faults { no_small_storage: self.whole_words, ..Faults::default() })
            .access(if self.addressed { Access::Addresses } else { Access::Descriptors });
        let sorter = gpu().sorter(&self.request, &options)?;
        let (capacity, _) = self.modules(gpu().profile()).ok_or("the device does not sort in this way")?;
        let arena = Arena::new(&gpu(), &sorter, capacity);
        for (count, pattern) in [(capacity, Pattern::Uniform), (capacity - 1, Pattern::FewDistinct)] {
            suite::run_case(&self.request, &arena, Case { capacity, count, pattern, counted: true })?;
        }
        assert_valid(&gpu());
        Ok(())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", suite::name(&self.request))?;
        if let Some(rank) = self.rank {
            write!(f, ", ranked by {rank:?}")?;
        }
        let all = [
            (self.emulated, ", emulated"),
            (self.addressed, ", by address"),
            (self.whole_words, ", without storage of 8 and 16 bits"),
        ];
        all.into_iter().filter(|(set, _)| *set).try_for_each(|(_, what)| f.write_str(what))
    }
}

/// Ways to sort, the usual ones first.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    let ranks = [RankMethod::Ballot, RankMethod::Private];
    // One bit takes one pass, which leaves the elements in the wrong place if they are sorted in place.
    let cells = [false, true].into_iter().flat_map(|narrow| {
        let keys = [KeyType::U32, KeyType::U8, KeyType::U64, KeyType::U128];
        keys.into_iter().flat_map(move |key| {
            let bits = if narrow { (0..1).into() } else { SortRequest::new(key).bits };
            [ValueType::U32, ValueType::Bytes(20)].map(|value| SortRequest::new(key).value(value).bits(bits))
        })
    });
    for request in cells {
        for &algorithm in Algorithm::ALL {
            let request = suite::asking(Some(algorithm), request);
            let usual = Way { request, algorithm, rank: None, emulated: false, addressed: false, whole_words: false };
            ways.push(usual);
            ways.extend(ranks.map(|rank| Way { rank: Some(rank), ..usual }));
            ways.push(Way { emulated: true, ..usual });
            ways.push(Way { addressed: true, ..usual });
            ways.push(Way { addressed: true, whole_words: true, ..usual });
        }
    }
    ways
}

/// Why a device does not run a module, if it does not.
pub(super) fn excuse(module: &Module, profile: &DeviceProfile) -> Option<&'static str> {
    let full = profile.has_full_subgroups();
    let excuses = [
        (module.addressed && !profile.buffer_addresses, "bufferDeviceAddress"),
        (module.small && !profile.small_storage, "storage of 8 and 16 bits"),
        (!module.emulated && module.kernel.row().variants.subgroups && !full, "full subgroups"),
        // Counters of each invocation are for the small subgroups of CPUs. The histogram counts in the way that scatter ranks.
        (module.ranking == Ranking::Private && !full, "full subgroups"),
        (module.ranking == Ranking::Private && profile.subgroup_size > 16, "subgroups of at most 16 lanes"),
    ];
    excuses.into_iter().find(|(lacks, _)| *lacks).map(|(_, what)| what)
}

/// For each module that can be reached the first way that leads there, without the ways that add no module.
fn chosen() -> Vec<(Module, Way)> {
    let profile = gpu().profile().clone();
    let mut found: Vec<(Module, Way)> = Vec::new();
    let mut reached: Vec<Module> = Vec::new();
    for way in ways() {
        let Some((_, modules)) = way.modules(&profile) else { continue };
        let new: Vec<Module> = modules.into_iter().filter(|module| !reached.contains(module)).collect();
        if let Some(first) = new.first() {
            found.push((*first, way));
            reached.extend(new);
        }
    }
    found
}

/// What no way leads to needs what the device lacks; what needs it is led to by no way.
fn every_module_has_a_sort() -> Result<(), Failed> {
    let profile = gpu().profile().clone();
    let ways = chosen();
    let reached: Vec<Module> =
        ways.iter().filter_map(|(_, way)| way.modules(&profile)).flat_map(|(_, modules)| modules).collect();
    // The suite `verified` runs those that are recorded beside a sort, and the trials below those of segments and records.
    // Those of a finish are run by the suite of that name, and by address on the simulated device.
    let elsewhere = |module: &Module| {
        matches!(module.kernel.row().sorts, Sorts::None | Sorts::Segmented | Sorts::Records | Sorts::Finished)
    };
    for module in kernels::modules().into_iter().filter(|module| !elsewhere(module)) {
        match (reached.contains(&module), excuse(&module, &profile)) {
            (true, None) => {}
            (false, Some(what)) => println!("not run here: {} needs {what}", module.name()),
            (true, Some(what)) => return Err(format!("{} runs here, without {what}", module.name()).into()),
            (false, None) => return Err(format!("{} is run by no sort", module.name()).into()),
        }
    }
    Ok(())
}

pub fn trials() -> Vec<Trial> {
    let sorts = chosen().into_iter().map(|(module, way)| {
        let name = format!("{} ({way})", module.name());
        Trial::test(name, move || way.sort())
    });
    let whole = [
        Trial::test("every_module_has_a_sort", every_module_has_a_sort),
        Trial::test("every_module_of_records", records::every_module),
    ];
    sorts.chain(whole).collect()
}
