//! What is measured: a request with a tuning, or a sort on the CPU, of one kind of data.

use clap::ValueEnum;
use vksort::__private::Faults;
use vksort::standalone::Gpu;
use vksort::{
    Algorithm, BitRange, KeyOutput, KeyType, Placement, RankMethod, SortRequest, SorterOptions, Tuning, ValueType,
};

use crate::data::Data;
use crate::peers::Peer;
use crate::problems::Way;

/// One thing to measure; its name is unique within its suite.
#[derive(Clone)]
pub struct Case {
    pub suite: Suite,
    pub name: String,
    pub how: How,
    pub data: Data,
}

/// Who sorts.
#[derive(Clone, Copy)]
pub enum How {
    Device {
        request: SortRequest,
        tweak: Tweak,
    },
    Cpu {
        peer: Peer,
        pairs: bool,
    },
    /// A bitonic network in one workgroup.
    Bitonic {
        pairs: bool,
    },
    /// A way to solve a problem, of so many segments. The request describes the elements.
    Problem {
        request: SortRequest,
        name: &'static str,
        way: Way,
        segments: u32,
    },
}

/// What differs from the tuning that all other cases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tweak {
    None,
    Unordered(bool),
    LooksAhead(bool),
    /// With a finish, or without.
    Finishes(bool),
    DigitBits(u32),
    Rank(RankMethod),
    /// Tiles whose index is a multiple of this publish no look-back words.
    Silent(u32),
}

impl Tweak {
    pub fn options(self, gpu: &Gpu) -> SorterOptions {
        let usual = gpu.tuning().clone();
        let tuning = match self {
            Tweak::None => None,
            Tweak::Silent(every) => {
                let faults = Faults { withhold: every, ..Faults::default() };
                return SorterOptions::default().faults(faults);
            }
            Tweak::Unordered(unordered) => Some(Tuning { unordered, ..usual }),
            Tweak::LooksAhead(looks_ahead) => Some(Tuning { looks_ahead, ..usual }),
            Tweak::Finishes(finishes) => Some(Tuning { finish_tiles: finishes.then_some(1), ..usual }),
            Tweak::DigitBits(digit_bits) => Some(Tuning { digit_bits, ..usual }),
            Tweak::Rank(rank) => Some(Tuning { rank, ..usual }),
        };
        SorterOptions::default().tuning(tuning)
    }

    pub fn label(self, gpu: &Gpu) -> String {
        let row = gpu.tuning().name.clone();
        match self {
            Tweak::None => row,
            Tweak::Unordered(true) => format!("{row}, first pass out of order"),
            Tweak::Unordered(false) => format!("{row}, every pass in order"),
            Tweak::LooksAhead(true) => format!("{row}, look-back while ranking"),
            Tweak::LooksAhead(false) => format!("{row}, look-back behind ranking"),
            Tweak::Finishes(true) => format!("{row}, with a finish"),
            Tweak::Finishes(false) => format!("{row}, without a finish"),
            Tweak::DigitBits(bits) => format!("{row}, digit bits {bits}"),
            Tweak::Rank(rank) => format!("{row}, rank {rank:?}"),
            Tweak::Silent(every) => format!("{row}, one tile in {every} publishes nothing"),
        }
    }
}

impl Case {
    /// Bytes per element that any radix sort by all digits of 8 bits moves: it reads the keys once to count, and in each
    /// pass reads and writes keys and values. Digits that all keys share take no pass. What one workgroup sorts in its own
    /// memory moves once.
    pub fn floor_bytes(&self, varying: u128, algorithm: &str) -> u64 {
        let (request, tweak) = match self.how {
            How::Device { request, tweak } => (request, tweak),
            How::Bitonic { .. } => return 2 * (4 + self.value_bytes()),
            How::Problem { .. } => unreachable!("a problem says itself how many bytes it moves"),
            How::Cpu { .. } => return floor(4, self.value_bytes(), 4),
        };
        let (key, value) = (request.key.size_bytes(), request.value.size_bytes());
        let BitRange { low, high } = request.bits;
        // Indices are made by the first pass, and unwanted keys are not written by the last.
        let is_index = request.value == ValueType::Index;
        let not_written = if request.key_output == KeyOutput::Discarded { key } else { 0 };
        if low == high || algorithm == Algorithm::SingleWorkgroup.to_string() {
            return 2 * (key + value) - if is_index { value } else { 0 } - not_written;
        }
        let widest = if let Tweak::DigitBits(bits) = tweak { bits } else { 8 };
        let digit_bits = (high - low).div_ceil((high - low).div_ceil(widest));
        let digits = (low..high).step_by(digit_bits as usize);
        let varies = |from: &u32| varying >> from & ((1 << digit_bits.min(high - from)) - 1) != 0;
        let passes = digits.filter(varies).count() as u64;
        let gathered = request.value.is_gathered();
        let sorted_value = if gathered { 4 } else { value };
        let not_read = if gathered || is_index { 4 } else { 0 };
        let saved = if passes > 0 { not_read + not_written } else { 0 };
        floor(key, sorted_value, passes) - saved + if gathered { 4 + 2 * value } else { 0 }
    }

    pub fn key(&self) -> KeyType {
        match self.how {
            How::Device { request, .. } | How::Problem { request, .. } => request.key,
            How::Cpu { .. } | How::Bitonic { .. } => KeyType::U32,
        }
    }

    pub fn value_bytes(&self) -> u64 {
        match self.how {
            How::Device { request, .. } | How::Problem { request, .. } => request.value.size_bytes(),
            How::Cpu { pairs, .. } | How::Bitonic { pairs } => 4 * u64::from(pairs),
        }
    }
}

fn floor(key: u64, value: u64, passes: u64) -> u64 {
    key + passes * 2 * (key + value)
}

/// What is measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Suite {
    /// u32 keys, pairs and argsort over many sizes
    Sizes,
    /// Every key type, and u32 with values of many sizes
    Types,
    /// Ratios: what windows, skipping, argsort and narrow keys gain
    Features,
    /// Data of many kinds
    Patterns,
    /// Every algorithm
    Algorithms,
    /// Every ranking method in the row's shape
    Methods,
    /// Beside sorts on the CPU, over many sizes
    Peers,
    /// Few keys: one workgroup, many, and a bitonic network, from 2^10 to 2^17
    Few,
    /// OneSweep with shares of its look-back words lost, beside reduce-then-scan
    Lost,
    /// With a finish, where the row can have one for so many, beside all passes
    Finish,
    /// Many segments, beside a full sort by segment and key
    Segments,
    /// The first elements of rows and of the whole array, beside a full sort
    Top,
    /// Records by their fields, beside moving them in each pass
    Records,
    /// All of these but lost and finish
    All,
}

/// Name of the case that every suite measures the copy bandwidth with.
pub const COPY: &str = "copy";

impl Suite {
    pub fn name(self) -> String {
        self.to_possible_value().expect("no suite is hidden").get_name().into()
    }

    /// Itself, or all suites.
    pub fn parts(self) -> Vec<Suite> {
        match self {
            Suite::All => {
                let others = [Suite::All, Suite::Lost, Suite::Finish];
                Suite::value_variants().iter().copied().filter(|suite| !others.contains(suite)).collect()
            }
            suite => vec![suite],
        }
    }

    /// Whether the suite has problems that are solved in several ways.
    pub fn has_problems(self) -> bool {
        matches!(self, Suite::Segments | Suite::Top | Suite::Records)
    }

    /// Whether the suite is measured at many sizes.
    pub fn is_ladder(self) -> bool {
        matches!(self, Suite::Sizes | Suite::Peers | Suite::Few | Suite::Lost | Suite::Finish)
    }

    /// The cases; `algorithm` sorts where a case names no other.
    pub fn cases(self, algorithm: Option<Algorithm>) -> Vec<Case> {
        let mut list = List { suite: self, cases: Vec::new() };
        let u32s = SortRequest::new(KeyType::U32).algorithm(algorithm);
        // With an empty window there is nothing to do but to move the keys.
        let copy = u32s.bits(0..0).placement(Placement::OutOfPlace);
        list.add(COPY, copy.algorithm(None));
        match self {
            Suite::Sizes => list.standard(u32s),
            Suite::Types => list.types(u32s),
            Suite::Features => list.features(u32s),
            Suite::Patterns => {
                for data in Data::ALL {
                    let key = if data == Data::Splats { KeyType::F32 } else { KeyType::U32 };
                    list.push(data.name(), of(key, u32s), Tweak::None, data);
                }
            }
            Suite::Algorithms => list.algorithms(u32s),
            Suite::Methods => list.methods(u32s),
            Suite::Peers => {
                list.keys_and_pairs(u32s);
                for pairs in [false, true] {
                    for peer in Peer::ALL {
                        let name = format!("{} {}", peer.name(), if pairs { "u32 pairs" } else { "u32 keys" });
                        let how = How::Cpu { peer, pairs };
                        list.cases.push(Case { suite: self, name, how, data: Data::Uniform });
                    }
                }
            }
            Suite::Few => list.few(u32s),
            Suite::Lost => list.lost(u32s),
            Suite::Finish => list.finish(u32s),
            // Problems are no single sorts.
            Suite::All | Suite::Segments | Suite::Top | Suite::Records => {}
        }
        list.cases
    }
}

struct List {
    suite: Suite,
    cases: Vec<Case>,
}

impl List {
    fn push(&mut self, name: impl Into<String>, request: SortRequest, tweak: Tweak, data: Data) {
        self.cases.push(Case { suite: self.suite, name: name.into(), how: How::Device { request, tweak }, data });
    }

    fn add(&mut self, name: impl Into<String>, request: SortRequest) {
        self.push(name, request, Tweak::None, Data::Uniform);
    }

    fn keys_and_pairs(&mut self, u32s: SortRequest) {
        self.add("u32 keys", u32s);
        self.add("u32 pairs", u32s.value(ValueType::U32));
    }

    fn standard(&mut self, u32s: SortRequest) {
        self.keys_and_pairs(u32s);
        self.add("u32 argsort", argsort(u32s));
    }

    fn few(&mut self, u32s: SortRequest) {
        self.keys_and_pairs(u32s);
        for (what, value) in [("keys", ValueType::None), ("pairs", ValueType::U32)] {
            for algorithm in [Algorithm::SingleWorkgroup, Algorithm::OneSweep, Algorithm::ReduceThenScan] {
                let request = u32s.value(value).algorithm(algorithm);
                self.add(format!("{algorithm} u32 {what}"), request);
            }
            let (name, how) = (format!("bitonic u32 {what}"), How::Bitonic { pairs: value != ValueType::None });
            self.cases.push(Case { suite: self.suite, name, how, data: Data::Uniform });
        }
    }

    fn types(&mut self, u32s: SortRequest) {
        for &key in KeyType::ALL {
            self.add(format!("{} keys", key.name()), of(key, u32s));
        }
        for bytes in [1, 2, 4, 8, 12, 16, 20, 64] {
            let value = ValueType::Bytes(bytes);
            self.add(format!("u32 + {bytes} bytes"), u32s.value(value));
        }
    }

    fn features(&mut self, u32s: SortRequest) {
        let pairs = |request: SortRequest| request.value(ValueType::U32);
        let out = |request: SortRequest| request.placement(Placement::OutOfPlace);
        let f32s = of(KeyType::F32, u32s);
        self.standard(u32s);
        for key in [KeyType::U8, KeyType::U16, KeyType::U64] {
            self.add(format!("{} keys", key.name()), of(key, u32s));
        }
        self.add("u64 keys out of place", out(of(KeyType::U64, u32s)));
        self.add("u32 keys out of place", out(u32s));
        self.add("u32 pairs out of place", out(pairs(u32s)));
        self.add("u32 argsort out of place", out(argsort(u32s)));
        for data in [Data::Uniform, Data::Splats] {
            let what = if data == Data::Splats { "splat" } else { "f32" };
            self.push(format!("{what} keys"), f32s, Tweak::None, data);
            self.push(format!("{what} keys out of place"), out(f32s), Tweak::None, data);
            self.push(format!("{what} pairs out of place"), out(pairs(f32s)), Tweak::None, data);
            self.push(format!("{what} argsort"), argsort(f32s), Tweak::None, data);
        }
        self.push("u32 keys out of order", u32s, Tweak::Unordered(true), Data::Uniform);
        self.push("u32 keys in order", u32s, Tweak::Unordered(false), Data::Uniform);
        self.push("u32 keys with look-back while ranking", u32s, Tweak::LooksAhead(true), Data::Uniform);
        self.push("u32 keys with look-back behind ranking", u32s, Tweak::LooksAhead(false), Data::Uniform);
        for window in [9, 17] {
            for digit_bits in [8, 9] {
                let name = format!("{window} bits by digits of {digit_bits}");
                let request = u32s.bits(0..window);
                self.push(name, request, Tweak::DigitBits(digit_bits), Data::Uniform);
            }
        }
        self.add("u32 keys 24 bits", u32s.bits(0..24));
    }

    fn finish(&mut self, u32s: SortRequest) {
        let (f32s, pairs) = (of(KeyType::F32, u32s), u32s.value(ValueType::U32));
        for (what, request, data) in [
            ("u32 keys", u32s, Data::Uniform),
            ("u32 pairs", pairs, Data::Uniform),
            ("u64 keys", of(KeyType::U64, u32s), Data::Uniform),
            ("splat argsort", argsort(f32s), Data::Splats),
            ("normal argsort", argsort(f32s), Data::Normal),
            ("u32 keys AND of 2 words", u32s, Data::And(2)),
            ("u32 keys AND of 10 words", u32s, Data::And(10)),
        ] {
            for finishes in [true, false] {
                self.push(finish_side(what, finishes), request, Tweak::Finishes(finishes), data);
            }
        }
    }

    fn lost(&mut self, u32s: SortRequest) {
        for value in [ValueType::None, ValueType::U32] {
            let (_, onesweep, reduce_then_scan) = lost_sides(value);
            let by = |algorithm| u32s.value(value).algorithm(algorithm);
            self.add(reduce_then_scan, by(Algorithm::ReduceThenScan));
            self.add(onesweep.clone(), by(Algorithm::OneSweep));
            for every in LOST {
                let name = format!("{onesweep}, 1 of {every} lost");
                self.push(name, by(Algorithm::OneSweep), Tweak::Silent(every), Data::Uniform);
            }
        }
    }

    fn methods(&mut self, u32s: SortRequest) {
        self.keys_and_pairs(u32s);
        for (what, value) in [("keys", ValueType::None), ("pairs", ValueType::U32)] {
            for &rank in RankMethod::ALL {
                let request = u32s.value(value);
                let name = format!("rank {rank:?} u32 {what}").to_lowercase();
                self.push(name, request, Tweak::Rank(rank), Data::Uniform);
            }
        }
    }

    fn algorithms(&mut self, u32s: SortRequest) {
        for (what, value) in [("keys", ValueType::None), ("pairs", ValueType::U32)] {
            for algorithm in [Algorithm::OneSweep, Algorithm::ReduceThenScan] {
                let request = u32s.value(value).algorithm(algorithm);
                self.add(format!("{algorithm} u32 {what}"), request);
                for digit_bits in [4, 2] {
                    let name = format!("{algorithm} by digits of {digit_bits} u32 {what}");
                    self.push(name, request, Tweak::DigitBits(digit_bits), Data::Uniform);
                }
            }
        }
    }
}

/// Of so many tiles, one loses its look-back words.
const LOST: [u32; 6] = [64, 16, 8, 4, 2, 1];

/// Both sides of the suite of lost words.
pub fn lost_sides(value: ValueType) -> (&'static str, String, String) {
    let request = if value == ValueType::None { "u32 keys" } else { "u32 pairs" };
    (request, format!("{} {request}", Algorithm::OneSweep), format!("{} {request}", Algorithm::ReduceThenScan))
}

/// The name of a sort with a finish, or of one without, in the suite of both.
pub fn finish_side(what: &str, finishes: bool) -> String {
    format!("{what} {} a finish", if finishes { "with" } else { "without" })
}

/// The same of other keys, of a sort of keys by all bits.
fn of(key: KeyType, keys: SortRequest) -> SortRequest {
    SortRequest::new(key).algorithm(keys.algorithm)
}

fn argsort(request: SortRequest) -> SortRequest {
    request.value(ValueType::Index).key_output(KeyOutput::Discarded)
}
