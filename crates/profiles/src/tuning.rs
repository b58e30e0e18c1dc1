//! A tuning as fields of a file, which are its knobs. It is for a field of a structure of yours:
//! `#[serde(with = "vksort_profiles::tuning")]`.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::{Map, Value};
use vksort::{DeviceProfile, Knob, Scale, Tuning};

/// Tells the knobs of one version from those of another, by their names and scales.
pub(crate) fn layout() -> u32 {
    let text: String = Tuning::KNOBS.iter().map(|knob| format!("{}:{:?};", knob.name, knob.scale)).collect();
    // FNV-1a, of which a file shows 24 bits.
    text.bytes().fold(0x811C_9DC5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) >> 8
}

/// Writes a name, each knob by its name, and the evidence.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(tuning: &Tuning, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(Tuning::KNOBS.len() + 2))?;
    map.serialize_entry("name", &tuning.name)?;
    for knob in Tuning::KNOBS {
        map.serialize_entry(knob.name, &value_of(knob, tuning))?;
    }
    map.serialize_entry("evidence", &tuning.evidence)?;
    map.end()
}

fn value_of(knob: &Knob, tuning: &Tuning) -> Value {
    match (knob.get(tuning), knob.scale) {
        (None, _) => Value::Null,
        (Some(number), Scale::Switch) => (number != 0).into(),
        (Some(number), Scale::Methods(_)) => knob.scale.show(number).into(),
        (Some(number), _) => number.into(),
    }
}

/// Reads what [`serialize`] writes.
///
/// # Errors
///
/// A field that is missing, unknown, or has a value that is not allowed, by its name.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Tuning, D::Error> {
    let mut map = Map::<String, Value>::deserialize(deserializer)?;
    let mut take = |name: &str| map.remove(name).ok_or_else(|| D::Error::custom(format!("missing field `{name}`")));
    let text = |name: &str, value: Value| match value {
        Value::String(text) => Ok(text),
        other => Err(D::Error::custom(format!("{name} is {other}, allowed is text"))),
    };
    let name = text("name", take("name")?)?;
    let evidence = text("evidence", take("evidence")?)?.into();
    let mut tuning = Tuning { name, evidence, ..Tuning::for_device(&DeviceProfile::default()) };
    for knob in Tuning::KNOBS {
        let number = number_of(knob, take(knob.name)?).map_err(D::Error::custom)?;
        tuning = knob.with(&tuning, number);
    }
    match map.keys().next() {
        Some(other) => Err(D::Error::custom(format!("unknown field `{other}`, a tuning has none of this name"))),
        None => Ok(tuning),
    }
}

/// The knob's number for a value of the file, or the reason against the value.
fn number_of(knob: &Knob, value: Value) -> Result<Option<u32>, String> {
    let number = match (&value, knob.scale) {
        (Value::Null, _) if knob.optional => return Ok(None),
        (Value::Bool(on), Scale::Switch) => Some((*on).into()),
        (Value::String(text), Scale::Methods(names)) => {
            names.iter().position(|name| name == text).map(|index| index as u32)
        }
        (_, Scale::Switch | Scale::Methods(_)) => None,
        (Value::Number(number), _) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    };
    match number.filter(|number| knob.scale.allows(*number)) {
        Some(number) => Ok(Some(number)),
        None => Err(format!("{} is {value}, allowed is {}", knob.name, knob.scale.allowed())),
    }
}
