//! Look-back as a model: each workgroup of a few tiles is a small program for one digit, and every interleaving of their loads,
//! stores and atomics is tried, with stores that others see late and in any order among different words. The ring, its epochs, the
//! anchors and recounts are those of the kernel. A tile that gets a wrong sum is found, and so is an execution that does not end.
//!
//! The model does not reorder the loads of different tiles: a load's address depends on what the load before it gave. The two
//! words of a slot are loaded in either order.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

const MAX_TILES: usize = 4;
const MAX_WORDS: usize = 10;
const MAX_PASSES: usize = 3;
/// Stores of a workgroup: its count, and two words each for its sum and its anchor.
const MAX_STORES: usize = 5;
/// What each tile counts in each pass. Sums need both words of a slot.
const COUNTS: [[u32; MAX_TILES]; MAX_PASSES] = [[1, 2, 3, 1], [3, 1, 2, 2], [2, 3, 1, 1]];
const LOW_BITS: u32 = 2;
const LOW_MASK: u32 = (1 << LOW_BITS) - 1;
/// Bits of the high part of a sum in the second word.
const HIGH_BITS: u32 = 8;
const COUNT_OF_TILE: u32 = 1;
const SUM_TO_TILE: u32 = 2;
const NO_ANCHORS: u32 = 31;

/// Rounds of the ring by which the epochs advance in a pass, by its tiles and the bits of the number of slots.
type Rounds = fn(usize, u32) -> usize;

fn rounds_of_last_tile(tiles: usize, ring_bits: u32) -> usize {
    ((tiles - 1) >> ring_bits) + 1
}

/// One more than needed where the tiles are a multiple of the slots.
fn rounds_with_a_gap(tiles: usize, ring_bits: u32) -> usize {
    (tiles >> ring_bits) + 1
}

/// The most tiles that the host allows a pass (`Plan::max_count`).
fn most_tiles(ring_bits: u32, epoch_bits: u32) -> usize {
    1 << (ring_bits + epoch_bits - 1)
}

/// What a kernel may do otherwise than ours.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    None,
    NoEpochInFirstWord,
    NoEpochInSecondWord,
    NoEpochInAnchors,
    EpochsOfOnePass,
    SumInOneWord,
    RecountOfOneTile,
    RecountPublishesSum,
    RecountStores,
    WaitsForever,
}

#[derive(Clone, Copy, Debug)]
struct Model {
    tiles: usize,
    ring_bits: u32,
    epoch_bits: u32,
    anchor_shift: u32,
    passes: usize,
    polls: u8,
    /// Whether others may see stores later than the workgroup itself.
    late_stores: bool,
    rounds: Rounds,
    change: Change,
}

const MODEL: Model = Model {
    tiles: 3,
    ring_bits: 1,
    epoch_bits: 3,
    anchor_shift: NO_ANCHORS,
    passes: 1,
    polls: 1,
    late_stores: true,
    rounds: rounds_of_last_tile,
    change: Change::None,
};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum At {
    #[default]
    Start,
    Publish,
    /// Before the load of the first of a slot's two words.
    Load,
    /// Before the load of the other.
    LoadOther,
    Recount,
    End,
}

/// The workgroup of a tile.
#[derive(Clone, Copy, Debug, Default)]
struct Workgroup {
    at: At,
    /// One more than the tile to read next; 0 when the sum is complete.
    next: u8,
    before: u8,
    polls: u8,
    /// One more than the tile that is read from its anchor.
    anchored: u8,
    rounds: u8,
    /// Which of a slot's two words has been loaded, and its content.
    loaded: (u8, u32),
    /// Stores that others do not see yet, the oldest first: word and content.
    stores: [(u8, u32); MAX_STORES],
    stored: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    pass: u8,
    tickets: u8,
    words: [u32; MAX_WORDS],
    workgroups: [Workgroup; MAX_TILES],
}

/// A slot: its place, and the epoch of the tile that it is read or written for.
#[derive(Clone, Copy)]
struct Slot {
    at: usize,
    epoch: u32,
}

impl Model {
    fn slot(&self, pass: usize, tile: usize) -> Slot {
        let passes = if self.change == Change::EpochsOfOnePass { 0 } else { pass };
        let epoch = passes * (self.rounds)(self.tiles, self.ring_bits) + (tile >> self.ring_bits);
        Slot { at: tile & ((1 << self.ring_bits) - 1), epoch: epoch as u32 }
    }

    fn is_anchor(&self, tile: usize) -> bool {
        tile > 0 && tile & ((1 << self.anchor_shift) - 1) == 0
    }

    fn anchor(&self, pass: usize, tile: usize) -> Slot {
        let epoch = if self.change == Change::NoEpochInAnchors { 0 } else { pass };
        Slot { at: (1 << self.ring_bits) - 1 + (tile >> self.anchor_shift), epoch: epoch as u32 }
    }

    fn first_word(&self, slot: Slot, state: u32, low: u32) -> u32 {
        (slot.epoch & ((1 << self.epoch_bits) - 1)) << (LOW_BITS + 2) | state << LOW_BITS | low
    }

    fn second_word(&self, slot: Slot, high: u32) -> u32 {
        (slot.epoch + 1) << HIGH_BITS | high
    }

    /// The slot that a workgroup reads next.
    fn next_slot(&self, pass: usize, workgroup: &Workgroup) -> Slot {
        let tile = usize::from(workgroup.next) - 1;
        if workgroup.next == workgroup.anchored { self.anchor(pass, tile) } else { self.slot(pass, tile) }
    }

    fn store(&self, state: &mut State, tile: usize, word: usize, content: u32) {
        if !self.late_stores {
            state.words[word] = content;
            return;
        }
        let Workgroup { stores, stored, .. } = &mut state.workgroups[tile];
        stores[usize::from(*stored)] = (word as u8, content);
        *stored += 1;
    }

    fn store_sum(&self, state: &mut State, tile: usize, slot: Slot, sum: u32) {
        let high = if self.change == Change::SumInOneWord { 0 } else { self.second_word(slot, sum >> LOW_BITS) };
        self.store(state, tile, 2 * slot.at + 1, high);
        self.store(state, tile, 2 * slot.at, self.first_word(slot, SUM_TO_TILE, sum & LOW_MASK));
    }

    /// What may follow a state; or what is wrong with it.
    fn follow(&self, state: &State, emit: &mut Vec<State>) -> Result<(), String> {
        let pass = usize::from(state.pass);
        let workgroups = &state.workgroups[..self.tiles];
        if workgroups.iter().all(|workgroup| workgroup.at == At::End && workgroup.stored == 0) {
            if pass + 1 < self.passes {
                emit.push(State { pass: state.pass + 1, words: state.words, ..State::default() });
            }
            return Ok(());
        }
        for (tile, workgroup) in workgroups.iter().enumerate() {
            // Of the stores to one word, the oldest is seen first.
            for (index, store) in workgroup.stores[..workgroup.stored.into()].iter().enumerate() {
                if workgroup.stores[..index].iter().all(|older| older.0 != store.0) {
                    let mut after = *state;
                    after.words[usize::from(store.0)] = store.1;
                    after.workgroups[tile].drop_store(index);
                    emit.push(after);
                }
            }
            self.step(state, pass, tile, emit)?;
        }
        if emit.is_empty() { Err("no workgroup can go on".into()) } else { Ok(()) }
    }

    /// The next step of a workgroup.
    fn step(&self, state: &State, pass: usize, tile: usize, emit: &mut Vec<State>) -> Result<(), String> {
        let workgroup = &state.workgroups[tile];
        let mut after = *state;
        let own = &mut after.workgroups[tile];
        match workgroup.at {
            At::End => return Ok(()),
            At::Start if usize::from(state.tickets) != tile => return Ok(()),
            At::Start => {
                own.at = At::Publish;
                after.tickets += 1;
            }
            At::Publish => {
                (own.at, own.next) = (At::Load, tile as u8);
                let slot = self.slot(pass, tile);
                self.store(&mut after, tile, 2 * slot.at, self.first_word(slot, COUNT_OF_TILE, COUNTS[pass][tile]));
            }
            At::Load if workgroup.next == 0 => {
                let needed: u32 = COUNTS[pass][..tile].iter().sum();
                if u32::from(workgroup.before) != needed {
                    return Err(format!("pass {pass}: before tile {tile} are {needed}, not {}", workgroup.before));
                }
                let Workgroup { stores, stored, .. } = *workgroup;
                *own = Workgroup { at: At::End, stores, stored, ..Workgroup::default() };
                let sum = needed + COUNTS[pass][tile];
                self.store_sum(&mut after, tile, self.slot(pass, tile), sum);
                if self.is_anchor(tile) {
                    self.store_sum(&mut after, tile, self.anchor(pass, tile), sum);
                }
            }
            At::Load if workgroup.polls < self.polls => {
                let at = 2 * self.next_slot(pass, workgroup).at;
                for which in [0, 1] {
                    let own = &mut after.workgroups[tile];
                    own.loaded = (which, workgroup.sees(&state.words, at + usize::from(which)));
                    own.at = At::LoadOther;
                    emit.push(after);
                }
                return Ok(());
            }
            At::Load => {
                own.polls = 0;
                if self.change != Change::WaitsForever {
                    own.rounds += 1;
                    match self.is_anchor(usize::from(workgroup.next) - 1) && workgroup.anchored != workgroup.next {
                        true => own.anchored = workgroup.next,
                        false => own.at = At::Recount,
                    }
                }
            }
            At::LoadOther => {
                let slot = self.next_slot(pass, workgroup);
                let (which, word) = workgroup.loaded;
                let other = workgroup.sees(&state.words, 2 * slot.at + 1 - usize::from(which));
                let (first, second) = if which == 0 { (word, other) } else { (other, word) };
                self.take(own, first ^ self.first_word(slot, 0, 0), second ^ self.second_word(slot, 0));
            }
            At::Recount => {
                let late = usize::from(workgroup.next) - 1;
                let (slot, counted) = (self.slot(pass, late), COUNTS[pass][late]);
                let published = if self.change == Change::RecountPublishesSum { SUM_TO_TILE } else { COUNT_OF_TILE };
                let content = self.first_word(slot, published, counted);
                // The atomic comes behind the workgroup's own stores to the word.
                let word = &mut after.words[2 * slot.at];
                while let Some(index) = own.first_store(2 * slot.at) {
                    *word = own.stores[index].1;
                    own.drop_store(index);
                }
                *word = if self.change == Change::RecountStores { content } else { content.max(*word) };
                own.before += counted as u8;
                own.next = if self.change == Change::RecountOfOneTile { 0 } else { late as u8 };
                own.at = At::Load;
            }
        }
        // The loop of the kernel ends after so many rounds.
        if usize::from(after.workgroups[tile].rounds) > 2 * tile {
            return Err(format!("pass {pass}: tile {tile} takes more than {} rounds", 2 * tile));
        }
        emit.push(after);
        Ok(())
    }

    /// Adds what the two words of a slot hold, if it is the tile's. Without its epoch, a word is a small number.
    fn take(&self, own: &mut Workgroup, mut first: u32, mut second: u32) {
        match self.change {
            Change::NoEpochInFirstWord => first &= (1 << (LOW_BITS + 2)) - 1,
            Change::NoEpochInSecondWord => second &= (1 << HIGH_BITS) - 1,
            Change::SumInOneWord => second = 0,
            _ => {}
        }
        let is_sum = first >> LOW_BITS == SUM_TO_TILE && second >> HIGH_BITS == 0;
        (own.at, own.loaded) = (At::Load, (0, 0));
        own.polls += 1;
        if first >> LOW_BITS == COUNT_OF_TILE || is_sum {
            let high = if is_sum { second << LOW_BITS } else { 0 };
            // A word of another tile may hold any number.
            own.before = own.before.wrapping_add((first & LOW_MASK) as u8).wrapping_add(high as u8);
            own.next = if is_sum { 0 } else { own.next - 1 };
            own.polls = 0;
        }
    }

    /// Tries all executions; gives the number of their states, or what went wrong in one.
    fn explore(&self) -> Result<usize, String> {
        let mut seen: HashSet<u64, BuildHasherDefault<Known>> = HashSet::default();
        // Depth first. A state that is met again on the way from the start is an execution without an end.
        let mut way: HashSet<u64, BuildHasherDefault<Known>> = HashSet::default();
        let mut stack: Vec<(u64, Vec<State>)> = vec![(0, vec![State::default()])];
        while let Some((id, states)) = stack.last_mut() {
            let Some(state) = states.pop() else {
                way.remove(id);
                stack.pop();
                continue;
            };
            let id = number_of(&state);
            if way.contains(&id) {
                return Err(format!("an execution does not end: {state:x?}"));
            }
            if seen.insert(id) {
                let mut following = Vec::new();
                self.follow(&state, &mut following).map_err(|reason| format!("{reason}: {state:x?}"))?;
                way.insert(id);
                stack.push((id, following));
            }
        }
        Ok(seen.len())
    }
}

impl Workgroup {
    /// The content of a word: the workgroup's own last store, or what all see.
    fn sees(&self, words: &[u32], word: usize) -> u32 {
        let own = self.stores[..self.stored.into()].iter().rev().find(|store| usize::from(store.0) == word);
        own.map_or(words[word], |store| store.1)
    }

    fn first_store(&self, word: usize) -> Option<usize> {
        self.stores[..self.stored.into()].iter().position(|store| usize::from(store.0) == word)
    }

    fn drop_store(&mut self, index: usize) {
        let stored = usize::from(self.stored);
        self.stores.copy_within(index + 1..stored, index);
        self.stores[stored - 1] = (0, 0);
        self.stored -= 1;
    }
}

/// A state as a number. That two of a million states have the same one is as likely as one in ten million.
fn number_of(state: &State) -> u64 {
    let mut number = [1u64, 2];
    let mut add = |word: u64| {
        number[0] = (number[0].rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        number[1] = (number[1].rotate_left(23) ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ number[1] >> 29;
    };
    let store = |store: (u8, u32)| u64::from(store.0) << 32 | u64::from(store.1);
    state.words.chunks(2).for_each(|words| add(u64::from(words[0]) << 32 | u64::from(words[1])));
    for workgroup in &state.workgroups {
        let &Workgroup { at, next, before, polls, anchored, rounds, loaded, stored, .. } = workgroup;
        add(u64::from_le_bytes([at as u8, next, before, polls, anchored, rounds, stored, 0]));
        add(store(loaded));
        workgroup.stores[..stored.into()].iter().for_each(|stored| add(store(*stored)));
    }
    add(u64::from(state.pass) << 8 | u64::from(state.tickets));
    number[0] ^ number[1].rotate_left(32)
}

/// For numbers that are hashes.
#[derive(Default)]
struct Known(u64);

impl Hasher for Known {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("all keys are numbers");
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

fn holds(name: &str, model: Model) {
    match model.explore() {
        Ok(states) => println!("{name}: {states} states"),
        Err(reason) => panic!("{name}: {reason}\n{model:?}"),
    }
}

fn fails(name: &str, model: Model) {
    match model.explore() {
        Ok(states) => panic!("{name}: nothing is wrong in {states} states\n{model:?}"),
        Err(reason) => println!("{name}: {}", reason.split(": State").next().unwrap_or_default()),
    }
}

#[test]
fn every_tile_gets_the_sum_of_all_before_it() {
    let two = Model { passes: 2, ..MODEL };
    let four = Model { tiles: 4, late_stores: false, ..MODEL };
    holds("3 tiles, 2 slots", MODEL);
    holds("3 tiles, 2 slots, 2 polls", Model { polls: 2, ..MODEL });
    holds("3 tiles, 1 slot", Model { ring_bits: 0, ..MODEL });
    holds("3 tiles, 2 slots, an anchor for every tile", Model { anchor_shift: 0, ..MODEL });
    holds("3 tiles, 1 slot, an anchor for every second tile", Model { ring_bits: 0, anchor_shift: 1, ..MODEL });
    holds("3 tiles, 2 slots, 2 passes", two);
    holds("3 tiles, 1 slot, 2 passes", Model { ring_bits: 0, ..two });
    holds("3 tiles, 2 slots, 3 passes, epochs that begin anew", Model { epoch_bits: 2, passes: 3, ..MODEL });
    holds("4 tiles, 2 slots, an anchor for every second tile, 2 passes", Model { anchor_shift: 1, passes: 2, ..four });
    holds("4 tiles, 2 slots, late stores", Model { late_stores: true, ..four });
}

/// A pass has as many rounds as its last tile needs. With a round more, at the most tiles that the host allows, a word of the pass
/// before has the epoch of a tile of this pass.
#[test]
fn epochs_leave_no_round_out() {
    let (ring_bits, epoch_bits) = (1, 2);
    let tiles = most_tiles(ring_bits, epoch_bits);
    let most = Model { tiles, ring_bits, epoch_bits, passes: 2, late_stores: false, ..MODEL };
    holds("the most tiles", Model { passes: 3, ..most });
    fails("the most tiles, and a gap between passes", Model { rounds: rounds_with_a_gap, ..most });
    // With fewer tiles there are no gaps, or epochs to spare.
    holds("a tile less", Model { tiles: tiles - 1, rounds: rounds_with_a_gap, ..most });
    holds("an epoch bit more", Model { epoch_bits: epoch_bits + 1, rounds: rounds_with_a_gap, ..most });
    fails("an epoch bit less", Model { epoch_bits: epoch_bits - 1, ..most });
}

#[test]
fn what_look_back_does_is_needed() {
    let changed = |change| Model { change, ..MODEL };
    let two = |change| Model { passes: 2, ..changed(change) };
    let one_slot = |change| Model { ring_bits: 0, ..changed(change) };
    let four = |change| Model { tiles: 4, late_stores: false, ..changed(change) };
    fails("no epoch in the first word", changed(Change::NoEpochInFirstWord));
    fails("no epoch in the second word", two(Change::NoEpochInSecondWord));
    fails("anchors without epochs", Model { anchor_shift: 0, ..two(Change::NoEpochInAnchors) });
    fails("epochs that do not advance from pass to pass", two(Change::EpochsOfOnePass));
    fails("a sum without its second word", four(Change::SumInOneWord));
    fails("look-back that ends behind a recount", one_slot(Change::RecountOfOneTile));
    fails("a recount that publishes its count as a sum", four(Change::RecountPublishesSum));
    fails("a wait without a recount", one_slot(Change::WaitsForever));
    // That larger words stay saves recounts, and nothing else.
    holds("a recount that overwrites larger words", changed(Change::RecountStores));
}
