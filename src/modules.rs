//! The SPIR-V of the kernels, which `build.rs` packs.

#[cfg(any(test, feature = "__compile"))]
#[path = "../build/pack.rs"]
pub(crate) mod pack;
pub(crate) mod unpack;

use crate::abi::spec;
use crate::error::Error;
use crate::kernels::{self, MOST_KEY_WORDS, Module, feature_of_keys};
use crate::key::KeyType;

// `PACKED`: for each kernel its modules, packed in the order of `kernels::modules`, except those whose feature is off.
// `SPECIALIZED`: for each of `kernels::modules`, a bit for every specialization constant that it has.
// `DIGEST`: a hash of all modules, including those whose feature is off.
// `STALE`: whether `spirv/` is not what `glsl/` compiles to, or without the compiler, whether `glsl/` has changed since.
include!(concat!(env!("OUT_DIR"), "/modules.rs"));

const _: () = assert!(spec::LEN <= u64::BITS as usize);

/// The words of a module.
///
/// # Errors
///
/// [`Error::MissingFeature`] if the module's feature is off.
pub fn words(module: &Module) -> Result<Vec<u32>, Error> {
    if let Some(feature) = module.missing_feature() {
        return Err(Error::MissingFeature { what: format!("kernel {}", module.name()), feature });
    }
    let built = |other: &Module| other.kernel == module.kernel && other.missing_feature().is_none();
    let index = kernels::modules().into_iter().filter(built).position(|other| other == *module);
    let index = index.expect("the closest module is built");
    Ok(unpack::unpack(PACKED[module.kernel as usize], index).expect("build.rs has packed it"))
}

/// Whether a module has each of the specialization constants.
pub(crate) fn specialized(module: &Module) -> [bool; spec::LEN] {
    let index = kernels::modules().iter().position(|built| built == module).expect("the closest module is built");
    let mask = SPECIALIZED[index];
    std::array::from_fn(|id| mask >> id & 1 == 1)
}

/// Fails for a key type whose feature is off. `fields` is the width of the fields that such keys are composed of, or 0.
pub(crate) fn check(key: KeyType, fields: u32) -> Result<(), Error> {
    check_built(key, fields, MOST_KEY_WORDS)
}

impl KeyType {
    /// Whether this build has the kernels for such keys: a cargo feature may be off.
    pub fn is_built(self) -> bool {
        check(self, 0).is_ok()
    }
}

fn check_built(key: KeyType, fields: u32, most_words: u32) -> Result<(), Error> {
    if key.words() <= most_words {
        return Ok(());
    }
    let what = match fields {
        0 => format!("sorting keys of type {}", key.name()),
        bits => format!("sorting records by fields of {bits} bits together"),
    };
    Err(Error::MissingFeature { what, feature: feature_of_keys(key.words()) })
}

/// A name for the kernels of this build.
pub fn digest() -> String {
    format!("{DIGEST:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_spirv_is_compiled_from_the_glsl_that_is_here() {
        const { assert!(!STALE, "run scripts/spirv.sh") };
    }

    #[test]
    fn keys_without_kernels_are_refused_by_name() {
        for &key in KeyType::ALL {
            assert!(check_built(key, 0, 4).is_ok());
            assert_eq!(key.is_built(), key.words() <= MOST_KEY_WORDS);
            let (name, feature) = (key.name(), if key.bits() == 128 { "keys-128" } else { "keys-64" });
            let of_fields = "sorting records by fields of 96 bits together".into();
            for (fields, what) in [(0, format!("sorting keys of type {name}")), (96, of_fields)] {
                let missing = format!("{what} needs the cargo feature {feature} of vksort, which is off");
                for most_words in [1, 2] {
                    let refused = check_built(key, fields, most_words).map_err(|error| error.to_string());
                    assert_eq!(refused, if key.bits() > 32 * most_words { Err(missing.clone()) } else { Ok(()) });
                }
            }
        }
    }
}
