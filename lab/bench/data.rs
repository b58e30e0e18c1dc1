//! Keys and values to sort, and their order as a stable sort on the CPU has it.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use rayon::prelude::*;
use vksort::{BitRange, KeyOutput, KeyType, Order, SortRequest, ValueType};

use vksort_programs::common::verify::verify_runs;

/// Kinds of keys. All but uniform ones are of 32 bits where they do not say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Data {
    /// Random bits.
    Uniform,
    /// The AND of so many random words, from 2 on: ever fewer bits of entropy, as CUB's tests have it.
    And(u32),
    /// One key.
    Constant,
    Sorted,
    Reversed,
    /// Two keys that differ in every digit.
    TwoValues,
    /// Six keys that differ in every digit.
    SixValues,
    /// Random bits below a byte of so many values.
    TopByte(u32),
    /// One key, but for a single other.
    OneStray,
    /// View depths as `f32`, from 2 to 8: all have the same 8 highest bits.
    Splats,
    /// `f32` of a normal distribution, as scores are.
    Normal,
}

impl Data {
    pub const ALL: [Data; 18] = [
        Data::Uniform,
        Data::And(2),
        Data::And(4),
        Data::And(10),
        Data::And(16),
        Data::Constant,
        Data::TwoValues,
        Data::SixValues,
        Data::OneStray,
        Data::Sorted,
        Data::Reversed,
        Data::TopByte(1),
        Data::TopByte(2),
        Data::TopByte(3),
        Data::TopByte(4),
        Data::TopByte(5),
        Data::TopByte(6),
        Data::Splats,
    ];

    /// Bytes of a key, of all but uniform ones.
    pub const KEY_BYTES: u64 = 4;

    pub fn name(self) -> String {
        match self {
            Data::Uniform => "uniform".into(),
            Data::And(words) => format!("AND of {words} words"),
            Data::Constant => "constant".into(),
            Data::Sorted => "sorted".into(),
            Data::Reversed => "reversed".into(),
            Data::TwoValues => "two values".into(),
            Data::SixValues => "six values".into(),
            Data::TopByte(1) => "constant top byte".into(),
            Data::TopByte(values) => format!("top byte of {values} values"),
            Data::OneStray => "one stray".into(),
            Data::Splats => "splat depths".into(),
            Data::Normal => "normal distribution".into(),
        }
    }

    fn words(self, n: usize, random: &mut fastrand::Rng) -> Vec<u32> {
        const KEY: u32 = 0x5A5A_5A5A;
        // Six multiples of it have six values in every byte.
        const SIXTH: u32 = 0x2B2B_2B2B;
        let mut words: Vec<u32> = match self {
            Data::Uniform | Data::Sorted | Data::Reversed => (0..n).map(|_| random.u32(..)).collect(),
            Data::And(count) => (0..n).map(|_| (0..count).fold(u32::MAX, |word, _| word & random.u32(..))).collect(),
            Data::Constant | Data::OneStray => vec![KEY; n],
            Data::TwoValues => (0..n).map(|_| if random.bool() { KEY } else { !KEY }).collect(),
            Data::SixValues => (0..n).map(|_| random.u32(..6) * SIXTH).collect(),
            // The values are spread over the byte, so that they differ in digits of other widths too.
            Data::TopByte(values) => {
                (0..n).map(|_| (random.u32(..values) * SIXTH) & 0xFF00_0000 | random.u32(..1 << 24)).collect()
            }
            Data::Splats => (0..n).map(|_| (2.0 + 5.999 * random.f32()).to_bits()).collect(),
            // The sum of 12 uniform numbers has the variance 1.
            Data::Normal => (0..n).map(|_| ((0..12).map(|_| random.f32()).sum::<f32>() - 6.0).to_bits()).collect(),
        };
        match self {
            Data::Sorted => words.par_sort_unstable(),
            Data::Reversed => words.par_sort_unstable_by(|a, b| b.cmp(a)),
            Data::OneStray => words[n / 2] = !KEY,
            _ => {}
        }
        words
    }
}

/// The arrays of all cases of one size. Cases share them as far as they can.
pub struct Inputs {
    n: usize,
    seed: u64,
    keys: HashMap<Data, Arc<Vec<u8>>>,
    values: Vec<u8>,
    /// The order asked for last, and its order.
    order: Option<(Wanted, Arc<Vec<u32>>)>,
}

type Wanted = (Data, KeyType, Order, BitRange);

impl Inputs {
    /// Uniform keys and values of up to so many bytes.
    pub fn new(n: usize, seed: u64, key_bytes: u64, value_bytes: u64) -> Inputs {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = |size: u64| {
            let mut bytes = vec![0; n * size as usize];
            random.fill(&mut bytes);
            bytes
        };
        let (uniform, values) = (bytes(key_bytes), bytes(value_bytes));
        Inputs { n, seed, keys: HashMap::from([(Data::Uniform, Arc::new(uniform))]), values, order: None }
    }

    pub fn keys(&mut self, data: Data, key: KeyType) -> Arc<Vec<u8>> {
        let known = data == Data::Uniform || key.size_bytes() == Data::KEY_BYTES;
        assert!(known, "keys of this kind have {} bytes", Data::KEY_BYTES);
        self.all_keys(data)
    }

    /// All bytes that keys of this kind are the first of.
    pub fn all_keys(&mut self, data: Data) -> Arc<Vec<u8>> {
        let make = || {
            let words = data.words(self.n, &mut fastrand::Rng::with_seed(self.seed));
            Arc::new(bytemuck::cast_slice(&words).to_vec())
        };
        Arc::clone(self.keys.entry(data).or_insert_with(make))
    }

    /// All bytes that values are the first of.
    pub fn all_values(&self) -> &[u8] {
        &self.values
    }

    /// Values of so many bytes.
    pub fn values(&self, bytes: u64) -> &[u8] {
        &self.values[..self.n * bytes as usize]
    }

    /// Bits that differ between keys, in their sortable numbers.
    pub fn varying(&mut self, data: Data, key: KeyType, order: Order) -> u128 {
        let keys = self.keys(data, key);
        let size = key.size_bytes() as usize;
        let code = |index: usize| key.sortable(number(&keys, size, index), order);
        let first = code(0);
        (0..self.n).into_par_iter().map(|index| code(index) ^ first).reduce(|| 0, |a, b| a | b)
    }

    /// The sorting permutation.
    pub fn order(&mut self, data: Data, key: KeyType, order: Order, bits: BitRange) -> Arc<Vec<u32>> {
        let wanted = (data, key, order, bits);
        if let Some((known, permutation)) = &self.order
            && *known == wanted
        {
            return Arc::clone(permutation);
        }
        let keys = self.keys(data, key);
        let code = |index: usize| code(&keys, key, order, bits, index);
        // The index below the key makes the order stable.
        let permutation: Vec<u32> = if bits.len() <= 32 {
            let pack = |index| (code(index) as u64) << 32 | index as u64;
            let mut packed: Vec<u64> = (0..self.n).into_par_iter().map(pack).collect();
            packed.par_sort_unstable();
            packed.iter().map(|packed| *packed as u32).collect()
        } else {
            let mut pairs: Vec<(u128, u32)> =
                (0..self.n).into_par_iter().map(|index| (code(index), index as u32)).collect();
            pairs.par_sort_unstable();
            pairs.iter().map(|pair| pair.1).collect()
        };
        let permutation = Arc::new(permutation);
        self.order = Some((wanted, Arc::clone(&permutation)));
        permutation
    }

    /// Compares what a sort made of these arrays with a stable sort on the CPU, byte by byte.
    pub fn verify(&mut self, request: &SortRequest, data: Data, keys: &[u8], values: &[u8]) -> Result<()> {
        let order = self.order(data, request.key, request.order, request.bits);
        if !request.stable {
            return self.verify_unstable(request, data, keys, values, &order);
        }
        if request.key_output == KeyOutput::Sorted {
            compare("key", keys, &self.keys(data, request.key), request.key.size_bytes(), &order)?;
        }
        match request.value {
            ValueType::None => Ok(()),
            ValueType::Index => {
                let indices: Vec<u32> = bytemuck::pod_collect_to_vec(values);
                match indices.iter().zip(order.iter()).position(|(given, needed)| given != needed) {
                    None => Ok(()),
                    Some(place) => bail!("index {place} is {}, needed is {}", indices[place], order[place]),
                }
            }
            value => compare("value", values, self.values(value.size_bytes()), value.size_bytes(), &order),
        }
    }

    /// The same where equal keys may come in any order: each run of them holds the same elements.
    fn verify_unstable(
        &mut self,
        request: &SortRequest,
        data: Data,
        keys: &[u8],
        values: &[u8],
        order: &[u32],
    ) -> Result<()> {
        let (key_size, value_size) = (request.key.size_bytes() as usize, request.value.size_bytes() as usize);
        let input = self.keys(data, request.key);
        let code = |index: u32| code(&input, request.key, request.order, request.bits, index as usize);
        let input_values: Vec<u8> = match request.value {
            ValueType::None => Vec::new(),
            ValueType::Index => (0..self.n as u32).flat_map(u32::to_le_bytes).collect(),
            value => self.values(value.size_bytes()).to_vec(),
        };
        let key_size = if request.key_output == KeyOutput::Sorted { key_size } else { 0 };
        let element = |keys, values, at| (row(keys, key_size, at), row(values, value_size, at));
        verify_runs(order, code, |place| element(keys, values, place), |index| element(&input, &input_values, index))
    }
}

/// One row of `size` bytes.
fn row(rows: &[u8], size: usize, index: u32) -> &[u8] {
    &rows[index as usize * size..][..size]
}

/// What a key is sorted by: the bits of its sortable number in the window.
fn code(keys: &[u8], key: KeyType, order: Order, bits: BitRange, index: usize) -> u128 {
    let sortable = key.sortable(number(keys, key.size_bytes() as usize, index), order);
    let below_high = u128::MAX.checked_shr(128 - bits.high).unwrap_or(0);
    (sortable & below_high).checked_shr(bits.low).unwrap_or(0)
}

/// The bits of a key.
fn number(keys: &[u8], size: usize, index: usize) -> u128 {
    let mut bits = [0; 16];
    bits[..size].copy_from_slice(&keys[index * size..][..size]);
    u128::from_le_bytes(bits)
}

fn compare(what: &str, given: &[u8], input: &[u8], size: u64, order: &[u32]) -> Result<()> {
    let size = size as usize;
    let differs = |(row, index): (&[u8], &u32)| row != &input[*index as usize * size..][..size];
    match given.par_chunks_exact(size).zip(order).position_first(differs) {
        None => Ok(()),
        Some(place) => {
            bail!("{what} {place} is not that of a stable sort, which is {what} {} of the input", order[place])
        }
    }
}
