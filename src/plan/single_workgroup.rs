//! One workgroup sorts up to one block by all digits in shared memory.

use super::{Kernel, Place, Route, Step};
use crate::abi::Push;

pub(super) fn step(count: u32) -> Step {
    let push = Push { count, tiles: 1, blocks: 1, ..Push::default() };
    let route = Route { from: Place::Source, to: Place::Target };
    Step::dispatch(Kernel::SingleWorkgroup, None, 1, route, push)
}
