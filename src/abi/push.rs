//! Push constants: words that every kernel has, and words of a step's own, whose meaning depends on its kernel.

use std::ops::Range;

/// The name of a word and its place.
pub type Place = (&'static str, u32);

macro_rules! own_words {
    ($($(#[$doc:meta])* $step:ident { $($(#[$word_doc:meta])* $word:ident = $place:literal;)* })*) => {
        /// Words of a step's own. Shaders have each of them as a macro of its name after `PUSH_`. A word has the same meaning and the
        /// same place in every step that has it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Own {
            $($(#[$doc])* $step { $($(#[$word_doc])* $word: u32),* }),*
        }

        impl Own {
            /// Every word with its place, and again for each step that shares it.
            const ALL: &[Place] = &[$($((stringify!($word), $place),)*)*];

            /// The words of this step, each with its place.
            #[allow(dead_code, reason = "for tests and tools")]
            pub const fn places(self) -> &'static [Place] {
                match self {
                    $(Own::$step { .. } => &[$((stringify!($word), $place)),*]),*
                }
            }

            /// The words in the order of their places; 0 where the step has none.
            fn words(self) -> [u32; OWN_WORDS] {
                let mut words = [0; OWN_WORDS];
                match self {
                    $(Own::$step { $($word),* } => { $(words[$place] = $word;)* })*
                }
                words
            }
        }
    };
}

own_words! {
    /// Of a single workgroup, which has none.
    Single {}
    /// Of a pass over tiles.
    Pass {
        /// Elements that a workgroup covers.
        part = 0;
        /// Elements of a row.
        row_length = 1;
        /// Bits of the number of tiles from an anchor of look-back to the next; 31 if the ring has a slot for every tile.
        anchor_shift = 2;
    }
    /// Of the histogram.
    Histogram {
        /// Elements that a workgroup covers.
        part = 0;
        /// Elements of a row.
        row_length = 1;
        /// One of the `STAGE_*` constants.
        stage = 4;
    }
    /// Of the kernel that sizes the dispatches for a count on the device.
    Arguments {
        /// Elements of a tile.
        part = 0;
        /// Elements of a part of the histogram.
        histogram_part = 1;
    }
    /// Of the sample of a sort that may end with a finish.
    Sample {
        /// Elements of a window of runs.
        part = 0;
        /// Words of the counters to clear.
        counter_words = 1;
        /// Words of the table to clear.
        table_words = 2;
    }
    /// Of the finish.
    Runs {
        /// Elements of a window, for tools.
        part = 0;
    }
    /// Of a move.
    Move {
        /// Elements that a workgroup covers.
        part = 0;
        /// The route, if the host knows it; else 0.
        route = 3;
    }
    /// Of a gather.
    Gather {
        /// Elements of a tile.
        part = 0;
        /// Not 0 to copy the values in order.
        in_order = 3;
    }
    /// Of the kernel that composes the keys of records.
    Compose {
        /// Records that a workgroup covers.
        part = 0;
        /// Not 0 to compose the keys of all records, because the count on the device is of segments.
        composes_all = 4;
    }
    /// Of windows of segments.
    Windows {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most elements of a segment.
        longest = 3;
        /// Elements up to which segments are small.
        small = 4;
    }
    /// Of segments that are sorted in the lanes of a subgroup.
    Short {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most elements of a segment.
        longest = 3;
    }
    /// Of windows that list segments longer than a block, and of the rounds that divide them.
    Split {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most windows of the children of a round.
        most_windows = 2;
        /// The most parents of a round.
        most_parents = 3;
        /// The most rows of counts of a round.
        most_rows = 4;
    }
    /// Of windows that list rows to be narrowed.
    ListRows {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a tile of a listed row.
        tile_length = 1;
        /// The most tiles of all rows.
        most_tiles = 2;
        /// The most survivors of a row.
        most_survivors = 3;
    }
    /// Of the levels that narrow rows to their first elements.
    Narrow {
        /// Elements of a row that a workgroup covers.
        part = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most tiles of all rows.
        most_tiles = 2;
        /// The most survivors of a row.
        most_survivors = 3;
        /// One of the `STAGE_*` constants.
        stage = 4;
    }
    /// Of the windows that sort the survivors of rows.
    Finish {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most tiles of all rows.
        most_tiles = 2;
        /// The most survivors of a row, which are also the longest segment.
        most_survivors = 3;
        /// Elements up to which segments are small.
        small = 4;
    }
    /// Of an inspector.
    Inspect {
        /// The capacity in elements.
        capacity = 0;
        /// Elements of a row.
        row_length = 1;
        /// The most elements of a segment.
        longest = 3;
    }
    /// Of a verifier.
    Verify {
        /// Workgroups that add up the elements.
        workgroups = 0;
        /// The `CHECKS_*` bits.
        checks = 3;
        /// One of the `VERIFY_*` constants.
        verify_stage = 4;
    }
}

/// The words of a step's own.
const OWN_WORDS: usize = 5;

/// The single words of the block, by their names in the shaders.
const SINGLES: [&str; 6 + OWN_WORDS] =
    ["count", "count_word", "pass", "own_0", "own_1", "own_2", "own_3", "own_4", "window_low", "key_flip", "low_flip"];

/// The addresses before them, low word first. With a visitor they follow them.
const ADDRESSES: [&str; 4] = ["keys_from", "keys_to", "values_from", "values_to"];

/// Push constants, the same block for every kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Push {
    /// Elements, or segments, to sort; for a count on the device, the most that it may be.
    pub count: u32,
    /// One more than the word of the count in the count buffer; 0 for a count from the host.
    pub count_word: u32,
    /// Index of the pass, or of the round; the number of passes for the move after them.
    pub pass: u32,
    /// The words of the step's own.
    pub own: Own,
    /// Lowest bit of the window, for keys of one word.
    pub window_low: u32,
    /// Bits to flip in the top word of every key, so that unsigned order is the order of the request.
    pub key_flip: u32,
    /// The same for the lower words of a key.
    pub low_flip: u32,
    /// For access by address, those of the keys that the step reads and writes, and of the values that it reads and writes.
    pub addresses: [u64; ADDRESSES.len()],
}

impl Push {
    const ADDRESS_WORDS: usize = 2 * ADDRESSES.len();

    /// The first of the single words, without a visitor.
    #[allow(dead_code, reason = "for tests")]
    pub const FIRST_SINGLE: usize = Self::ADDRESS_WORDS;

    /// The first word of a step's own, without a visitor.
    #[allow(dead_code, reason = "for tests")]
    pub const FIRST_OWN: usize = Self::ADDRESS_WORDS + 3;

    /// Words of the block.
    pub const WORDS: usize = SINGLES.len() + Self::ADDRESS_WORDS;

    /// Size of the block in bytes.
    pub const SIZE_BYTES: u32 = 4 * Self::WORDS as u32;

    /// Members of the block in a shader.
    #[allow(dead_code, reason = "for tests, and for what compiles visitors")]
    pub const fn members(addressed: bool) -> usize {
        SINGLES.len() + if addressed { ADDRESSES.len() } else { 0 }
    }

    /// The bytes of the block in the push constants, after those of a visitor if there is one.
    pub fn range(visitor_bytes: Option<u32>, addressed: bool) -> Range<u32> {
        let Some(start) = visitor_bytes.map(VisitorPush::offset) else { return 0..Self::SIZE_BYTES };
        let singles = start + 4 * SINGLES.len() as u32;
        start..if addressed { singles.next_multiple_of(8) + 4 * Self::ADDRESS_WORDS as u32 } else { singles }
    }

    /// The single words.
    fn singles(&self) -> [u32; SINGLES.len()] {
        let Push { count, count_word, pass, own, window_low, key_flip, low_flip, addresses: _ } = *self;
        let [own_0, own_1, own_2, own_3, own_4] = own.words();
        [count, count_word, pass, own_0, own_1, own_2, own_3, own_4, window_low, key_flip, low_flip]
    }

    /// The single words by their names in the shaders.
    #[allow(dead_code, reason = "for tools")]
    pub fn named(&self) -> impl Iterator<Item = (&'static str, u32)> {
        SINGLES.into_iter().zip(self.singles())
    }

    /// The block as the words that the shaders see, and perhaps words that they do not have: [`Push::range`].
    pub fn words(&self, visitor_bytes: Option<u32>) -> [u32; Self::WORDS + 1] {
        let (singles_at, addresses_at) = match visitor_bytes {
            None => (Self::ADDRESS_WORDS, 0),
            // Addresses begin at a multiple of 8 bytes.
            Some(bytes) => (0, SINGLES.len() + (VisitorPush::offset(bytes) as usize / 4 + SINGLES.len()) % 2),
        };
        let mut words = [0; Self::WORDS + 1];
        words[singles_at..][..SINGLES.len()].copy_from_slice(&self.singles());
        for (pair, address) in words[addresses_at..].chunks_exact_mut(2).zip(self.addresses) {
            pair.copy_from_slice(&[address as u32, (address >> 32) as u32]);
        }
        words
    }
}

/// A visitor's members of the push constants, which come before the library's.
#[derive(Clone, Copy, Debug)]
pub struct VisitorPush<'a> {
    /// The name of the members in the compiler's messages.
    pub name: &'a str,
    /// The members in GLSL.
    pub members: &'a str,
    /// Whether keys and values are accessed by address; otherwise the addresses are left out.
    pub addressed: bool,
}

impl VisitorPush<'_> {
    /// The first byte of the library's members, after `bytes` of the visitor's.
    pub fn offset(bytes: u32) -> u32 {
        // More than any device has, and so few that sums do not overflow.
        bytes.min(1 << 30).next_multiple_of(4)
    }
}

/// The block in GLSL, perhaps with the members of a visitor, and the names of a step's own words.
pub(super) fn glsl(visitor: Option<VisitorPush<'_>>) -> String {
    let addresses: String = ADDRESSES.iter().map(|name| format!("    uvec2 {name};\n")).collect();
    let singles: String = SINGLES.iter().map(|name| format!("    uint {name};\n")).collect();
    let members = match visitor {
        None => addresses + &singles,
        Some(VisitorPush { name, members, addressed }) => {
            let named = format!("#line 1 \"{name}\"\n{members}\n#line 1 \"{name}\"\n");
            named + &singles + if addressed { &addresses } else { "" }
        }
    };
    let mut text = format!("layout(push_constant) uniform Push {{\n{members}}} push;\n");
    for (at, (name, place)) in Own::ALL.iter().enumerate() {
        match Own::ALL[..at].iter().find(|(other, _)| other == name) {
            None => text += &format!("#define PUSH_{} push.own_{place}\n", name.to_uppercase()),
            Some((_, other)) => assert_eq!(place, other, "{name} has two places"),
        }
    }
    text
}
