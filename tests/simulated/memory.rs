//! Buffers in the memory of a device. A store of an invocation is visible to itself at once, to its workgroup behind a barrier
//! for buffers, to the device behind a fence, and else at any time: stores to one word become visible in their order, stores to
//! different words in any. A load gives the last content of a word that is visible, or an older one that the word has had since
//! the invocation's last fence. Behind a dispatch all stores are visible, and all loads give the last content.

use std::collections::{HashMap, VecDeque};

use fastrand::Rng;
use rspirv::spirv::Op;

use super::arithmetic;

/// The memory, as words.
#[derive(Debug)]
pub struct Memory {
    words: Vec<u32>,
    /// The bits of each word that have been written.
    defined: Vec<u32>,
    /// Who wrote each byte in this dispatch without an atomic.
    writers: Vec<[Option<Writer>; 4]>,
    /// Who changed each word last in this dispatch by an atomic that reads and writes.
    updaters: Vec<Option<Writer>>,
    /// Who read each byte in this dispatch without an atomic.
    readers: Vec<[Readers; 4]>,
    /// Descriptors by binding and place: first byte and size.
    pub descriptors: HashMap<u32, (u32, u32)>,
    /// Ranges that may be reached by address: first byte and size.
    pub ranges: Vec<(u32, u32)>,
    /// Ranges of counters, and the bytes that invocations have loaded and stored elsewhere.
    pub counters: Vec<(u32, u32)>,
    pub moved: u64,
    /// Whether workgroups may race for elements, because the caller's words break the rules.
    pub may_race: bool,
    /// Whether invocations may give a word of shared memory several elements, of which it keeps one: windows with private counters
    /// count keys and load them again to move them, and others of overlapping segments may have changed them in between.
    pub may_collide: bool,
    /// What words were before each change of this dispatch, behind one entry for none.
    history: Vec<Former>,
    /// The last entry of each word.
    last: Vec<u32>,
    /// The oldest entry that an invocation may load, by word and invocation.
    oldest: HashMap<(u32, u32), u32>,
    /// Changes before this one are visible to all.
    settled: u32,
    pub rng: Rng,
}

/// The invocation that has written a byte.
#[derive(Clone, Copy, Debug)]
struct Writer {
    who: Who,
    /// The change that made its last store visible to the device.
    shown: Option<u32>,
}

/// Invocations that have read a byte.
#[derive(Clone, Copy, Debug, Default)]
struct Readers {
    last: Option<Who>,
    /// Whether others of its workgroup have read since the last barrier.
    other_invocations: bool,
    other_workgroups: bool,
}

/// A word before a change.
#[derive(Clone, Copy, Debug)]
struct Former {
    word: u32,
    defined: u32,
    /// The entry of the change before.
    before: u32,
}

/// The address of the memory's first byte. Buffers lie across a multiple of 2^32, where sums of low words overflow.
pub const BASE: u64 = 0x7F_FFFF_0000;

#[derive(Clone, Copy, Debug)]
enum Change {
    /// These bits of the word.
    Set { bits: u32, mask: u32 },
    /// An atomic, with its operand.
    Update { op: Op, operand: u32 },
}

impl Change {
    /// The word behind the change, and the bits of it that are defined.
    fn apply(self, word: u32, defined: u32) -> (u32, u32) {
        match self {
            Change::Set { bits, mask } => (word & !mask | bits, defined | mask),
            Change::Update { op, operand } => {
                let (word, independent) = arithmetic::atomic(op, word, operand);
                (word, defined | independent)
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Store {
    change: Change,
    /// The invocation that sees it; `None` for all of the workgroup.
    invocation: Option<u32>,
}

/// The stores of a workgroup that others need not see yet, by word.
#[derive(Debug, Default)]
pub struct Pending {
    stores: HashMap<u32, VecDeque<Store>>,
    words: Vec<u32>,
    /// The last change of each word that came from here.
    shown: HashMap<u32, u32>,
}

/// Where a scalar lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    word: u32,
    shift: u32,
    mask: u32,
}

/// Who accesses the memory: the invocation's number in its workgroup, and in the dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Who {
    pub invocation: u32,
    pub number: u32,
    /// Changes before this one are visible.
    pub fresh: u32,
    /// Barriers of the workgroup so far, and of them those that make stores to buffers visible.
    pub barriers: u32,
    pub buffer_barriers: u32,
}

impl Who {
    /// The first number of the workgroup.
    fn workgroup(self) -> u32 {
        self.number - self.invocation
    }
}

impl Writer {
    /// Whether a load of this invocation comes behind the stores of the writer.
    fn is_before(&self, who: Who) -> bool {
        let barrier = self.who.workgroup() == who.workgroup() && self.who.buffer_barriers < who.buffer_barriers;
        self.who.number == who.number || barrier || self.shown.is_some_and(|shown| shown < who.fresh)
    }
}

impl Readers {
    fn add(&mut self, who: Who) {
        match self.last {
            Some(last) if last.workgroup() != who.workgroup() => self.other_workgroups = true,
            Some(last) if last.barriers == who.barriers => self.other_invocations |= last.number != who.number,
            _ => self.other_invocations = false,
        }
        self.last = Some(who);
    }

    /// Whether one of them may read at the same time as an invocation writes. No fence orders a load before a store here.
    fn race_with(&self, who: Who) -> bool {
        self.last.is_some_and(|last| {
            self.other_workgroups
                || last.workgroup() != who.workgroup()
                || last.barriers == who.barriers && (self.other_invocations || last.number != who.number)
        })
    }
}

impl Memory {
    /// Memory of so many bytes with this content, all of it written.
    pub fn new(bytes: &[u8], rng: Rng) -> Memory {
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
        let all = words.len();
        Memory {
            words,
            defined: vec![u32::MAX; all],
            writers: vec![[None; 4]; all],
            updaters: vec![None; all],
            readers: vec![[Readers::default(); 4]; all],
            descriptors: HashMap::new(),
            ranges: Vec::new(),
            counters: Vec::new(),
            moved: 0,
            may_race: false,
            may_collide: false,
            history: vec![Former { word: 0, defined: 0, before: 0 }],
            last: vec![0; all],
            oldest: HashMap::new(),
            settled: 0,
            rng,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Fills words with garbage that may not be read.
    pub fn forget(&mut self, first_byte: u32, bytes: u32) {
        self.defined[first_byte as usize / 4..][..bytes as usize / 4].fill(0);
    }

    pub fn clear(&mut self, first_byte: u32, bytes: u32) {
        self.words[first_byte as usize / 4..][..bytes as usize / 4].fill(0);
        self.defined[first_byte as usize / 4..][..bytes as usize / 4].fill(u32::MAX);
    }

    /// Changes words, whose bytes are as defined as before.
    pub fn disturb(&mut self, first_byte: u32, bytes: u32, rng: &mut Rng) {
        self.words[first_byte as usize / 4..][..bytes as usize / 4].fill_with(|| rng.u32(..));
    }

    pub fn word(&self, first_byte: u32) -> u32 {
        self.words[first_byte as usize / 4]
    }

    pub fn begin_dispatch(&mut self) {
        self.writers.fill([None; 4]);
        self.updaters.fill(None);
        self.readers.fill([Readers::default(); 4]);
        self.history.truncate(1);
        self.last.fill(0);
        self.oldest.clear();
        self.settled = 0;
    }

    /// From now on all see what has been changed so far.
    pub fn settle(&mut self) {
        self.settled = self.now();
    }

    /// A scalar of a descriptor.
    pub fn in_descriptor(&self, descriptor: u32, offset: u32, bytes: u32) -> Result<Place, String> {
        let Some(&(first, size)) = self.descriptors.get(&descriptor) else {
            return Err(format!("descriptor {descriptor} has no buffer"));
        };
        match u64::from(offset) + u64::from(bytes) <= u64::from(size) {
            true => Place::new(first + offset, bytes),
            false => Err(format!("byte {offset} is out of the {size} bytes of descriptor {descriptor}")),
        }
    }

    /// A scalar at an address.
    pub fn at_address(&self, low: u32, high: u32, bytes: u32) -> Result<Place, String> {
        let address = u64::from(high) << 32 | u64::from(low);
        let at = address.wrapping_sub(BASE);
        let within = |&&(first, size): &&(u32, u32)| {
            (u64::from(first)..u64::from(first) + u64::from(size)).contains(&at)
                && at + u64::from(bytes) <= u64::from(first) + u64::from(size)
        };
        match self.ranges.iter().find(within) {
            Some(_) => Place::new(at as u32, bytes),
            None => Err(format!("the address {address:#x} is in no buffer")),
        }
    }

    /// The number of changes so far.
    pub fn now(&self) -> u32 {
        self.history.len() as u32
    }

    /// Changes a word for all to see.
    fn change(&mut self, word: u32, change: Change) {
        let at = word as usize;
        self.history.push(Former { word: self.words[at], defined: self.defined[at], before: self.last[at] });
        self.last[at] = self.now() - 1;
        (self.words[at], self.defined[at]) = change.apply(self.words[at], self.defined[at]);
        let shown = Some(self.last[at]);
        match change {
            Change::Set { mask, .. } => {
                for byte in bytes_of(mask) {
                    self.writers[at][byte].iter_mut().for_each(|writer| writer.shown = shown);
                }
            }
            Change::Update { .. } => self.updaters[at].iter_mut().for_each(|writer| writer.shown = shown),
        }
    }

    /// A content that an invocation may see, and its defined bits.
    fn visible(&mut self, pending: &Pending, word: u32, who: Who) -> (u32, u32) {
        let at = word as usize;
        let (mut seen, mut entry) = ((self.words[at], self.defined[at]), self.last[at]);
        // Changes before this one are visible. The workgroup sees its own, as its invocations race for none.
        let fresh = pending.shown.get(&word).map_or(1, |own| own + 1).max(who.fresh).max(self.settled);
        if entry < fresh || self.writers[at].iter().flatten().any(|writer| writer.who.number == who.number) {
            return seen;
        }
        let oldest = self.oldest.entry((word, who.number)).or_default();
        let mut chosen = self.history.len() as u32;
        while entry >= fresh.max(*oldest) && self.rng.u32(0..4) == 0 {
            let former = self.history[entry as usize];
            (seen, chosen, entry) = ((former.word, former.defined), entry, former.before);
        }
        *oldest = chosen;
        seen
    }

    fn count(&mut self, place: Place) {
        let byte = 4 * place.word;
        if !self.counters.iter().any(|&(first, size)| (first..first + size).contains(&byte)) {
            self.moved += u64::from(place.mask.count_ones() / 8);
        }
    }

    pub fn load(&mut self, pending: &Pending, place: Place, who: Who, is_atomic: bool) -> Result<u32, String> {
        self.count(place);
        let (mut word, mut defined) = self.visible(pending, place.word, who);
        for store in pending.stores.get(&place.word).into_iter().flatten() {
            if store.is_seen_by(who) {
                (word, defined) = store.change.apply(word, defined);
            }
        }
        let at = place.word as usize;
        if !is_atomic && !self.may_race && self.updaters[at].is_some_and(|updater| !updater.is_before(who)) {
            return Err(format!("word {at} of the memory is read while an atomic changes it"));
        }
        for byte in bytes_of(place.mask) {
            if !self.may_race && self.writers[at][byte].is_some_and(|writer| !writer.is_before(who)) {
                return Err(format!("byte {byte} of word {at} of the memory is read while it is written"));
            }
            if !is_atomic {
                self.readers[at][byte].add(who);
            }
        }
        // Elements of less than a word may be loaded with neighbours that nothing has written yet.
        match defined & place.mask {
            1.. => Ok((word & place.mask) >> place.shift),
            0 => Err(format!("word {} of the memory is read before it is written", place.word)),
        }
    }

    /// A store that others may see later. One without an atomic may not meet another invocation's, unless that comes before it.
    pub fn store(
        &mut self,
        pending: &mut Pending,
        place: Place,
        who: Who,
        value: u32,
        is_atomic: bool,
    ) -> Result<(), String> {
        self.count(place);
        let bits = value << place.shift & place.mask;
        if !is_atomic && !self.may_race {
            let at = place.word as usize;
            for byte in bytes_of(place.mask) {
                if self.writers[at][byte].is_some_and(|writer| !writer.is_before(who)) {
                    return Err(format!("two invocations write byte {byte} of word {at} of the memory"));
                }
                if self.readers[at][byte].race_with(who) {
                    return Err(format!("byte {byte} of word {at} of the memory is written while it is read"));
                }
                self.writers[at][byte] = Some(Writer { who, shown: None });
            }
        }
        if is_atomic {
            self.oldest.insert((place.word, who.number), u32::MAX);
        }
        pending.push(
            place.word,
            Store { change: Change::Set { bits, mask: place.mask }, invocation: Some(who.invocation) },
        );
        Ok(())
    }

    /// An atomic that reads and writes. Others may see it later if its invocation does not use the result; else it acts on the
    /// memory at once, behind the stores to the word that the invocation sees.
    pub fn update(
        &mut self,
        pending: &mut Pending,
        place: Place,
        who: Who,
        (op, operand): (Op, u32),
        is_used: bool,
    ) -> Result<u32, String> {
        let (at, change) = (place.word as usize, Change::Update { op, operand });
        if self.defined[at] == 0 && !pending.stores.contains_key(&place.word) && change.apply(0, 0).1 == 0 {
            return Err(format!("word {at} of the memory is changed before it is written"));
        }
        self.updaters[at] = Some(Writer { who, shown: None });
        // What an invocation has changed, it sees.
        self.oldest.insert((place.word, who.number), u32::MAX);
        if !is_used {
            pending.push(place.word, Store { change, invocation: Some(who.invocation) });
            return Ok(0);
        }
        while pending.stores.get(&place.word).is_some_and(|stores| stores.iter().any(|store| store.is_seen_by(who))) {
            self.show_first(pending, place.word);
        }
        let before = self.words[at];
        self.change(place.word, change);
        pending.shown.insert(place.word, self.last[at]);
        Ok(before)
    }

    /// Makes the first store to a word visible. Its entry in the list of words is the caller's matter.
    fn show_first(&mut self, pending: &mut Pending, word: u32) {
        let Some(stores) = pending.stores.get_mut(&word) else { return };
        let store = stores.pop_front();
        if stores.is_empty() {
            pending.stores.remove(&word);
        }
        if let Some(Store { change, .. }) = store {
            self.change(word, change);
            pending.shown.insert(word, self.last[word as usize]);
        }
    }

    /// Makes stores to some words visible, chosen at random.
    pub fn show_some(&mut self, pending: &mut Pending, most: usize, rng: &mut Rng) {
        for _ in 0..most.min(pending.words.len()) {
            let index = rng.usize(..pending.words.len());
            let word = pending.words[index];
            self.show_first(pending, word);
            // An atomic may have shown the rest before.
            if !pending.stores.contains_key(&word) {
                pending.words.swap_remove(index);
            }
        }
    }

    /// Makes the stores visible that an invocation sees.
    pub fn fence(&mut self, pending: &mut Pending, who: Who) {
        for word in std::mem::take(&mut pending.words) {
            while pending.stores.get(&word).is_some_and(|stores| stores.iter().any(|store| store.is_seen_by(who))) {
                self.show_first(pending, word);
            }
            if pending.stores.contains_key(&word) {
                pending.words.push(word);
            }
        }
    }

    /// Makes all stores visible.
    pub fn show_all(&mut self, pending: &mut Pending) {
        for word in std::mem::take(&mut pending.words) {
            while pending.stores.contains_key(&word) {
                self.show_first(pending, word);
            }
        }
    }
}

impl Store {
    fn is_seen_by(&self, who: Who) -> bool {
        self.invocation.is_none_or(|invocation| invocation == who.invocation)
    }
}

impl Pending {
    fn push(&mut self, word: u32, store: Store) {
        let stores = self.stores.entry(word).or_default();
        if stores.is_empty() {
            // The word may be there already, which does no harm.
            self.words.push(word);
        }
        stores.push_back(store);
    }

    /// Makes all stores visible to the workgroup.
    pub fn share(&mut self) {
        self.stores.values_mut().flatten().for_each(|store| store.invocation = None);
    }
}

/// The bytes of a word under a mask of whole bytes.
fn bytes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..4).filter(move |byte| mask >> (8 * byte) & 0xFF != 0)
}

impl Place {
    fn new(byte: u32, bytes: u32) -> Result<Place, String> {
        if !byte.is_multiple_of(bytes) {
            return Err(format!("byte {byte} is misaligned for {bytes} bytes"));
        }
        let shift = byte % 4 * 8;
        let mask = if bytes == 4 { u32::MAX } else { ((1 << (8 * bytes)) - 1) << shift };
        Ok(Place { word: byte / 4, shift, mask })
    }
}
