//! Why a picture is blank.

use super::camera::BACKGROUND;
use super::reference::{self, Unseen, View};
use super::scene::Splat;

/// Whether a picture of three bytes a pixel shows nothing but the background.
pub fn is_blank(picture: &[u8]) -> bool {
    let background = BACKGROUND.to_array().map(|channel| (255.0 * channel).round() as u8);
    picture.chunks_exact(3).all(|pixel| pixel == background)
}

/// Says of all splats why they are not seen, and what helps.
pub fn reason(splats: &[Splat], view: View<'_>) -> String {
    let kinds = [
        (Some(Unseen::Transparent), "transparent, with an opacity of at most 1/255".to_string()),
        (Some(Unseen::Near), format!("behind the camera or nearer to it than {:?}", view.camera.near)),
        (Some(Unseen::Outside), "outside of the picture".into()),
        (Some(Unseen::Small), "too small from this distance".into()),
        (Some(Unseen::Large), "too large from this distance".into()),
        (None, "too faint at the centre of every pixel".into()),
    ];
    let found: Vec<Option<Unseen>> = splats.iter().map(|splat| reference::unseen(splat, view)).collect();
    let counted = kinds.map(|(kind, what)| (found.iter().filter(|found| **found == kind).count(), what));
    let parts: Vec<_> = counted.iter().filter(|(count, _)| *count > 0).collect();
    let of_all = match parts[..] {
        [(count, what)] => format!("all {count} splats are {what}"),
        _ => parts.iter().map(|(count, what)| format!("{count} splats are {what}")).collect::<Vec<_>>().join(", "),
    };
    let is_only_opacity = found.iter().all(|found| *found == Some(Unseen::Transparent));
    let advice = if is_only_opacity { "" } else { "; without --eye and --target the camera shows what can be seen" };
    format!("{of_all}{advice}")
}
