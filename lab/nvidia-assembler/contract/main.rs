//! Prints how NVIDIA's row sorts, as JSON: vksort-contract KEY VALUE CAPACITY COUNT [FIELD=VALUE...]
//!
//! The contract of host and kernels (`abi.glsl`), and for a sort of COUNT elements, by a sorter for up to CAPACITY, every step
//! with its module, specialization constants, workgroups and push constants. VALUE is `none`, `index` (out of place, and the
//! keys are discarded) or a number of bytes; the rest is in place. A FIELD is one of `Tuning`, such as `items_keys=16`, or
//! `withhold`: tiles whose index is a multiple of it never publish what they count; or `algorithm`, OneSweep without it; or `rows`, the
//! elements of each row if these are sorted by themselves.

use std::env;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use vksort::__private::ShapeDesc;
use vksort::__private::abi::{self, Push, SPECIALIZATION};
use vksort::__private::steps::{self, Groups, HostStep, Memory};
use vksort::__private::{driver, vendor};
use vksort::{
    Algorithm, Count, DeviceProfile, KeyOutput, KeyType, Placement, Segments, SortRequest, Tuning, ValueType,
};

/// What every NVIDIA GPU with subgroup operations has.
fn profile() -> DeviceProfile {
    DeviceProfile {
        name: "NVIDIA".into(),
        vendor_id: vendor::NVIDIA,
        driver_id: driver::NVIDIA,
        max_shared_bytes: 48 << 10,
        ..DeviceProfile::default()
    }
}

/// The built-in row with some fields changed.
fn tuning(profile: &DeviceProfile, changes: &[&String]) -> Result<Tuning> {
    let mut row = vksort_profiles::tuning::serialize(&Tuning::for_device(profile), serde_json::value::Serializer)?;
    for change in changes {
        let (field, value) = change.split_once('=').with_context(|| format!("{change}: not FIELD=VALUE"))?;
        let Some(old) = row.get_mut(field) else { bail!("{field} is no field of a tuning") };
        *old = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    }
    let tuning = vksort_profiles::tuning::deserialize(row).context("the tuning")?;
    tuning.check()?;
    Ok(tuning)
}

fn request(key: &str, value: &str, algorithm: Algorithm) -> Result<SortRequest> {
    let key: KeyType = key.parse()?;
    let request = SortRequest::new(key).algorithm(algorithm);
    Ok(match value {
        "none" => request,
        "index" => request.value(ValueType::Index).key_output(KeyOutput::Discarded).placement(Placement::OutOfPlace),
        bytes => request.value(ValueType::Bytes(bytes.parse().context("bytes of a value")?)),
    })
}

fn names<'a>(pairs: impl Iterator<Item = (&'a str, u32)>) -> Value {
    pairs.map(|(name, value)| (name.to_string(), value.into())).collect::<Map<_, _>>().into()
}

fn workgroups(groups: Groups) -> Option<u32> {
    match groups {
        Groups::Direct(workgroups) => Some(workgroups),
        Groups::Counted(_) => None,
    }
}

/// The name of a buffer, or the first byte of a range of scratch.
fn memory(memory: Option<Memory>) -> Value {
    match memory {
        Some(Memory::Keys) => "keys".into(),
        Some(Memory::Values) => "values".into(),
        Some(Memory::KeysOut) => "keys_out".into(),
        Some(Memory::ValuesOut) => "values_out".into(),
        Some(Memory::Scratch(range)) => range.offset.into(),
        None => Value::Null,
    }
}

/// The words of a step's own by their names.
fn own(push: &Push) -> Value {
    let words = push.words(None);
    names(push.own.places().iter().map(|(name, place)| (*name, words[Push::FIRST_OWN + *place as usize])))
}

fn step(step: &HostStep) -> Value {
    match step {
        HostStep::Clear { bytes } => json!({ "clear": bytes }),
        HostStep::Dispatch(dispatch) => json!({
            "kernel": dispatch.module.kernel.name(),
            "name": dispatch.name.to_string(),
            "pass": dispatch.name.pass,
            "module": dispatch.module.name(),
            "file": dispatch.module.file(),
            "places": {
                "KEYS_FROM": memory(dispatch.places.keys[0]),
                "KEYS_TO": memory(dispatch.places.keys[1]),
                "VALUES_FROM": memory(dispatch.places.values[0]),
                "VALUES_TO": memory(dispatch.places.values[1]),
            },
            "macros": names(dispatch.module.macros().into_iter()),
            "constants": names(SPECIALIZATION.iter().zip(dispatch.constants).map(|((name, _), value)| (*name, value))),
            "workgroups": workgroups(dispatch.groups),
            "push": names(dispatch.push.named()),
            "own": own(&dispatch.push),
        }),
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [key, value, capacity, count, changes @ ..] = &arguments[..] else {
        bail!("usage: vksort-contract KEY VALUE CAPACITY COUNT [FIELD=VALUE...]");
    };
    let (faults, changes): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.starts_with("withhold="));
    let withhold = faults.first().map_or(Ok(0), |fault| fault["withhold=".len()..].parse()).context("withhold")?;
    let (named, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.starts_with("algorithm="));
    let (rows, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.starts_with("rows="));
    let stride: Option<u32> = rows.first().map(|rows| rows["rows=".len()..].parse()).transpose().context("rows")?;
    let algorithm = named.first().map(|named| named["algorithm=".len()..].parse()).transpose().context("algorithm")?;
    let algorithm = algorithm.unwrap_or(Algorithm::OneSweep);
    let (capacity, count) = (capacity.parse().context("CAPACITY")?, count.parse().context("COUNT")?);
    let (profile, whole) = (profile(), request(key, value, algorithm)?);
    let request = stride.map_or(whole, |stride| whole.algorithm(None).segments(Segments::Rows { stride }));
    let tuning = tuning(&profile, &changes)?;
    let desc = ShapeDesc { withhold, ..ShapeDesc::new(&profile, &tuning, &request, algorithm) };
    let sort = match stride {
        Some(stride) => steps::of_segments(&desc, capacity, capacity / stride, Count::Host(count / stride))?,
        None => steps::of(&desc, capacity, Count::Host(count))?,
    };
    let contract = json!({
        "abi": abi::glsl(None),
        "tile": sort.tile,
        "in_place": request.placement == Placement::InPlace,
        "scratch_bytes": sort.scratch_bytes,
        "counters_offset": sort.counters.offset,
        "table_offset": sort.table.offset,
        "steps": sort.steps.iter().map(step).collect::<Vec<_>>(),
    });
    println!("{contract:#}");
    Ok(())
}
