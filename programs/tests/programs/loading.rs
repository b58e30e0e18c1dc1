//! Scenes as people have them: every way of writing them down, every mark that trainers leave, and what is refused.

use std::time::{Duration, Instant};

use glam::{Vec3, vec3};

use crate::made::{self, ENCODINGS, Element, Encoding, TRAINED};
use crate::memory::most_during;
use crate::renderer::scene::{Scene, Splat};
use crate::scenes::read;

/// The line by which a file is refused.
fn refused(name: &str, bytes: &[u8]) -> String {
    let line = match read(name, bytes) {
        Ok(scene) => panic!("{name} gave {} splats", scene.splats.len()),
        Err(error) => format!("{error:#}"),
    };
    assert!(!line.contains('\n') && line.len() < 300, "{line}");
    line
}

#[track_caller]
fn is_refused(name: &str, bytes: &[u8], parts: &[&str]) {
    let line = refused(name, bytes);
    parts.iter().for_each(|part| assert!(line.contains(part), "{part:?} is missing in {line:?}"));
}

/// A scene of one element as trained.
fn trained(comments: &[&str], element: Element) -> Vec<u8> {
    made::ply(Encoding::Little, comments, &[element])
}

fn whole(name: &str, bytes: &[u8]) -> Scene {
    let scene = read(name, bytes).unwrap_or_else(|error| panic!("{name}: {error:#}"));
    assert_eq!(scene.skipped, 0, "{name}: {}", scene.first_skipped);
    scene
}

fn is_near(a: Vec3, b: Vec3) -> bool {
    (a - b).abs().max_element() < 1e-5
}

#[test]
fn every_encoding_type_and_order_of_elements_gives_the_same_splats() {
    let expected = whole("plain.ply", &trained(&[], Element::trained("float", 4))).splats;
    assert_eq!(expected.len(), 4);
    let types = ["char", "uchar", "short", "ushort", "int", "uint", "float", "double"];
    let aliases = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"];
    for encoding in ENCODINGS {
        for (kind, others) in [("float", types), ("double", aliases), ("float32", types), ("float64", aliases)] {
            let mut vertex = Element::trained(kind, 4).with("list ushort double", "weights", &[3.0, 0.5, 1.5, -2.0]);
            let mut before = Element { name: "camera", rows: vec![vec![]; 3], ..Element::default() };
            for other in others {
                vertex = vertex.with(other, &format!("of_{other}"), &[7.0]);
                before = before.with(other, &format!("of_{other}"), &[9.0]);
            }
            let face = Element { name: "face", rows: vec![vec![]; 5], ..Element::default() };
            let face = face.with("list uchar int", "vertex_indices", &[4.0, 0.0, 1.0, 2.0, 3.0]);
            let none = Element { name: "edge", ..Element::default() };
            for elements in [[&before, &face, &vertex, &none], [&vertex, &none, &face, &before]] {
                let file = made::ply(encoding, &[], &elements.map(Element::clone));
                assert!(whole("scene.ply", &file).splats == expected, "{encoding:?} of {kind}");
            }
        }
    }
}

#[test]
fn headers_may_be_written_in_any_way() {
    let file = trained(&["comment x", "comment y"], Element::trained("float", 3));
    let expected = whole("plain.ply", &file).splats;
    let end = file.windows(11).position(|bytes| bytes == b"end_header\n").unwrap() + 11;
    let (header, body) = (String::from_utf8(file[..end].to_vec()).unwrap(), &file[end..]);
    let with = |header: Vec<u8>| whole("scene.ply", &[&header, body].concat()).splats == expected;
    for (text, other) in [
        ("\n", "\r\n"),
        ("\n", "\r"),
        ("\n", " \t\n"),
        (" ", "  \t "),
        ("comment x\n", "\n\n  \n"),
        ("comment x", "comment"),
        ("comment x", "obj_info num_cols 3"),
        ("comment x", &format!("comment {}", "long ".repeat(2000))),
        ("comment y", "comment element vertex 7"),
    ] {
        assert!(with(header.replace(text, other).into_bytes()), "{text:?} is {other:.40?}");
    }
    // Latin-1, GBK, and bytes that are nothing.
    for bytes in [&b"caf\xE9"[..], b"\xB3\xA1\xBE\xB0", b"\x00\xFF\xFE"] {
        for kind in ["comment", "obj_info"] {
            let (before, after) = header.split_once("comment x").unwrap();
            assert!(with([before.as_bytes(), kind.as_bytes(), b" ", bytes, after.as_bytes()].concat()), "{bytes:?}");
        }
    }
    // Lines that end with a carriage return, before a body that begins with a line feed.
    let file = trained(&[], Element::trained("float", 1).set(0, "x", f32::from_le_bytes([10, 0, 0, 64]).into()));
    let end = file.windows(11).position(|bytes| bytes == b"end_header\n").unwrap() + 11;
    let header = String::from_utf8_lossy(&file[..end]).replace('\n', "\r");
    let scene = whole("scene.ply", &[header.as_bytes(), &file[end..]].concat());
    assert_eq!(scene.splats[0].position.x.to_le_bytes(), [10, 0, 0, 64]);
}

#[test]
fn text_may_have_what_programs_write() {
    let file = made::ply(Encoding::Text, &[], &[Element::trained("float", 3)]);
    let text = String::from_utf8(file).unwrap();
    let expected = whole("plain.ply", text.as_bytes()).splats;
    let (header, body) = text.split_once("end_header\n").unwrap();
    let with = |body: &str| format!("{header}end_header\n{body}").into_bytes();
    for body in [
        body.replace("3.5", "3.5e0"),
        body.replace("3.5", "+35E-1"),
        body.replace(" 1 ", " 1. ").replace("0.5", ".5"),
        body.replace(' ', "\t  "),
        body.replace('\n', " \n\n"),
        body.replace('\n', "\r\n"),
        body.trim_end().to_string(),
    ] {
        assert!(whole("scene.ply", &with(&body)).splats == expected, "{body}");
    }
    // Lines that end with a carriage return, and the ways in which programs write NaN and infinities.
    let carriage = String::from_utf8(with(body)).unwrap().replace('\n', "\r");
    assert!(whole("scene.ply", carriage.as_bytes()).splats == expected);
    for word in ["nan", "NaN", "inf", "-Infinity"] {
        let scene = read("scene.ply", &with(&body.replacen("3.5", word, 1))).unwrap();
        assert_eq!((scene.splats.len(), scene.skipped), (2, 1), "{word}");
    }
    is_refused("scene.ply", &with(&body.replacen("3.5", "3.5 1", 1)), &["more numbers"]);
    is_refused("scene.ply", &with(&body.replacen("3.5", "", 1)), &["fewer numbers"]);
    is_refused("scene.ply", &with(&body.replacen("3.5", "3,5", 1)), &["3,5 is not a number"]);
    let short = body.lines().take(2).collect::<Vec<_>>().join("\n");
    is_refused("scene.ply", &with(&short), &["entry 2 of element vertex", "the file ends"]);
}

#[test]
fn discs_are_flat() {
    let scene = whole("2dgs.ply", &trained(&[], Element::trained("float", 2).without("scale_2")));
    let is_disc = |splat: &Splat| splat.scale.z == 0.0 && splat.scale.truncate().min_element() > 0.0;
    assert!(scene.splats.iter().all(is_disc), "{:?}", scene.splats);
    // A disc in a file of three scales has the logarithm of zero.
    let element = Element::trained("float", 2).set(1, "scale_1", f64::NEG_INFINITY);
    assert_eq!(whole("disc.ply", &trained(&[], element)).splats[1].scale.y, 0.0);
}

#[test]
fn colors_may_stand_for_harmonics() {
    let harmonic = |index: usize| format!("f_dc_{index}");
    let mut plain = Element::trained("float", 2);
    for index in 0..3 {
        plain = plain.without(&harmonic(index));
    }
    for (kind, full) in [("uchar", 255.0), ("ushort", 65535.0), ("float", 1.0), ("double", 1.0)] {
        let colors = [("red", full), ("green", 0.2 * full), ("blue", 0.0)];
        let with = |element: Element| {
            colors.iter().fold(element, |element, (name, number)| element.with(kind, name, &[*number]))
        };
        let scene = whole("rgb.ply", &trained(&[], with(plain.clone())));
        assert!(is_near(scene.splats[1].color, vec3(1.0, 0.2, 0.0)), "{kind}: {}", scene.splats[1].color);
        // Harmonics are what counts where there are both.
        let both = whole("both.ply", &trained(&[], with(Element::trained("float", 2))));
        assert!(is_near(both.splats[1].color, vec3(0.5, 0.782_094_8, 0.217_905_2)), "{}", both.splats[1].color);
    }
    is_refused("rgb.ply", &trained(&[], plain.clone()), &["no property f_dc_0"]);
    let halves = plain.with("int", "red", &[1.0]).with("int", "green", &[1.0]).with("int", "blue", &[1.0]);
    is_refused("rgb.ply", &trained(&[], halves), &["property red", "Int", "UChar"]);
}

#[test]
fn marks_of_trainers_are_read() {
    let marks = |comments: &[&str]| {
        let scene = whole("scene.ply", &trained(comments, Element::trained("float", 1)));
        (scene.up, scene.antialiased)
    };
    assert_eq!(marks(&["comment no mark", "comment axis: z"]), (None, false));
    assert_eq!(marks(&["comment Generated by Nerfstudio 1.1.5", "comment Vertical Axis: z"]), (Some(Vec3::Z), false));
    assert_eq!(marks(&["comment Vertical axis: y"]), (Some(Vec3::NEG_Y), false));
    assert_eq!(marks(&["comment vertical axis: x"]), (Some(Vec3::X), false));
    assert_eq!(marks(&["comment Vertical axis: 0 0.5 -0"]), (Some(Vec3::Y), false));
    for other in ["w", "0 0 0", "nan 0 0", "inf 0 0", "1 2", "a b c"] {
        assert_eq!(marks(&[&format!("comment Vertical axis: {other}")]), (None, false), "{other}");
    }
    assert_eq!(marks(&["comment SplatRenderMode: mip"]), (None, true));
    assert_eq!(marks(&["comment SplatRenderMode: mip", "comment SplatRenderMode: default"]), (None, false));
    assert_eq!(marks(&["comment antialiased 1"]), (None, true));
    assert_eq!(marks(&["comment antialiased 0"]), (None, false));
    for (flags, antialiased) in [(0, false), (1, true), (2, false), (3, true)] {
        let scene = whole("scene.spz", &made::gzip(&made::spz_content(3, 2, 0, flags)));
        assert_eq!((scene.up, scene.antialiased), (None, antialiased));
    }
}

/// Doubles far from the origin keep their places to one another, and the file says where they are.
#[test]
fn doubles_keep_their_places_far_from_the_origin() {
    let near = Element::trained("double", 9);
    let splats_of = |scene: &Scene| scene.splats.clone();
    for (far, encoding) in
        [(0.0, Encoding::Little), (900.0, Encoding::Text), (4_100_000.25, Encoding::Big), (-6.4e6, Encoding::Text)]
    {
        let mut moved = near.clone();
        moved.rows.iter_mut().for_each(|row| row[0] += far);
        let scene = whole("scene.ply", &made::ply(encoding, &[], &[moved]));
        let origin = scene.origin;
        assert_eq!(origin != glam::DVec3::ZERO, far.abs() >= 1000.0, "{far}: {origin}");
        for (splat, row) in splats_of(&scene).iter().zip(&near.rows) {
            let expected = glam::dvec3(row[0] + far, row[1], row[2]);
            let error = (splat.position.as_dvec3() + origin - expected).abs().max_element();
            assert!(error < 1e-4, "{far}: {} is {error} off {expected}", splat.position);
        }
        let notes = scene.notes();
        assert_eq!(notes.iter().any(|note| note.starts_with("origin ")), far.abs() >= 1000.0, "{notes:?}");
    }
    // Floats are as far apart as they are.
    let floats = whole("scene.ply", &trained(&[], Element::trained("float", 2).set(0, "x", 4e6)));
    assert_eq!((floats.origin, floats.splats[0].position.x), (glam::DVec3::ZERO, 4e6));
}

/// NaN and infinity as the C libraries of several systems print them.
#[test]
fn numbers_of_other_systems_are_read() {
    let text = |word: &str| {
        let file = made::ply(Encoding::Text, &[], &[Element::trained("float", 2).set(0, "x", 7777.0)]);
        String::from_utf8(file).unwrap().replacen("7777", word, 1).into_bytes()
    };
    for word in [
        "nan",
        "-nan",
        "NaN",
        "nan(ind)",
        "-nan(ind)",
        "nan(snan)",
        "nan(0x8000)",
        "1.#QNAN",
        "-1.#IND",
        "1.#SNAN",
        "1.#QNAN0",
    ] {
        let scene = read("scene.ply", &text(word)).unwrap();
        assert_eq!((scene.splats.len(), scene.skipped), (1, 1), "{word}");
        assert!(scene.first_skipped.contains("position is [NaN"), "{word}: {}", scene.first_skipped);
    }
    for (word, shown) in
        [("inf", "[inf"), ("-Infinity", "[-inf"), ("1.#INF", "[inf"), ("-1.#INF00", "[-inf"), ("1e400", "[inf")]
    {
        assert!(read("scene.ply", &text(word)).unwrap().first_skipped.contains(shown), "{word}");
    }
    for word in ["nano", "nan(", "1.#X", "#INF", "1.#", "ind", "--1"] {
        is_refused("scene.ply", &text(word), &["entry 0 of element vertex", "is not a number"]);
    }
}

#[test]
fn a_note_says_that_colors_are_of_degree_0() {
    let has_note = |bytes: &[u8]| {
        let notes = whole("scene", bytes).notes();
        assert!(notes.len() <= 1 && notes.iter().all(|note| note.contains("of degree 0")), "{notes:?}");
        !notes.is_empty()
    };
    assert!(!has_note(&trained(&[], Element::trained("float", 2))));
    assert!(has_note(&trained(&[], Element::trained("float", 2).with("float", "f_rest_0", &[0.5]))));
    for degree in 0..=4 {
        assert_eq!(has_note(&made::gzip(&made::spz_content(2, 2, degree, 0))), degree > 0, "{degree}");
    }
    assert!(has_note(include_bytes!("corpus/compressed_sh.ply")));
    assert!(!has_note(include_bytes!("corpus/compressed.ply")));
}

#[test]
fn bad_splats_are_left_out_and_counted() {
    let left_out = |name: &str, bytes: &[u8], skipped: usize, first: &str| {
        let scene = read(name, bytes).unwrap_or_else(|error| panic!("{first}: {error:#}"));
        assert_eq!(scene.skipped, skipped, "{name}");
        assert!(scene.first_skipped.starts_with(first), "{first}: {}", scene.first_skipped);
        let count = scene.splats.len() + skipped;
        let note = format!("left out   {skipped} of {count} splats, the first is {first}");
        assert!(scene.notes()[0].starts_with(&note), "{:?}", scene.notes());
        scene.splats
    };
    let good = Element::trained("float", 4);
    let expected = whole("good.ply", &trained(&[], good.clone())).splats;
    for (name, number, first) in [
        ("x", f64::NAN, "position is "),
        ("z", f64::INFINITY, "position is "),
        ("scale_0", f64::NAN, "scale is "),
        ("scale_2", f64::INFINITY, "scale is "),
        ("scale_1", 1000.0, "scale is "),
        ("f_dc_1", f64::NAN, "color is "),
        ("f_dc_2", f64::NEG_INFINITY, "color is "),
        ("opacity", f64::NAN, "opacity is "),
        ("rot_0", f64::INFINITY, "rotation is "),
        ("rot_3", f64::NAN, "rotation is "),
    ] {
        let file = trained(&[], good.clone().set(2, name, number).set(3, name, number));
        let splats = left_out("scene.ply", &file, 2, &format!("splat 2: {first}"));
        assert_eq!(splats, expected[..2], "{name} is {number}");
    }
    let zero =
        ["rot_0", "rot_1", "rot_2", "rot_3"].iter().fold(good.clone(), |element, name| element.set(0, name, 0.0));
    let splats = left_out("scene.ply", &trained(&[], zero), 1, "splat 0: rotation is [0, 0, 0, 0], allowed are finite");
    assert_eq!(splats, expected[1..]);
    // A double beyond all floats.
    let far = Element::trained("double", 4).set(1, "y", 1e300);
    assert_eq!(left_out("scene.ply", &trained(&[], far), 1, "splat 1: position").len(), 3);

    let web = include_bytes!("corpus/four.splat");
    for (place, bytes, first) in [
        (32, f32::NAN.to_le_bytes(), "splat 1: position is "),
        (76, f32::INFINITY.to_le_bytes(), "splat 2: scale is "),
        (76, (-1f32).to_le_bytes(), "splat 2: scale is "),
        (28, [128; 4], "splat 0: rotation is [0, 0, 0, 0]"),
    ] {
        let mut file = web.to_vec();
        file[place..place + 4].copy_from_slice(&bytes);
        assert_eq!(left_out("scene.splat", &file, 1, first).len(), 3);
    }

    let mut content = made::spz_content(1, 3, 0, 0);
    content[16 + 6..16 + 8].copy_from_slice(&half::f16::NAN.to_le_bytes());
    assert_eq!(left_out("scene.spz", &made::gzip(&content), 1, "splat 1: position is ").len(), 2);
}

#[test]
fn a_scene_with_no_splat_left_is_refused() {
    let nothing = TRAINED.iter().fold(Element::trained("float", 1), |element, name| element.set(0, name, f64::NAN));
    is_refused("scene.ply", &trained(&[], nothing), &["none of 1 splats can be drawn", "splat 0: rotation is"]);
    is_refused("scene.splat", &[255; 64], &["none of 2 splats can be drawn", "splat 0: position is"]);
    let empty = Element { rows: vec![], ..Element::trained("float", 1) };
    assert!(whole("scene.ply", &trained(&[], empty)).splats.is_empty(), "a scene of no splats is none");
}

/// Ranges of a chunk: positions from -1 to 1, logarithms of scales from -6 to -2, colours from 0 to 1.
fn chunk() -> [f64; 18] {
    [[-1.0; 3], [1.0; 3], [-6.0; 3], [-2.0; 3], [0.0; 3], [1.0; 3]].concat().try_into().unwrap()
}

#[test]
fn chunks_may_have_infinite_ranges() {
    let (least, most) = (7 << 29, u32::MAX);
    let words = [least, most, 1 << 31 | 1 << 20 | 1 << 10].map(|scale| [0, 0, scale, 255]);
    let mut ranges = chunk();
    for encoding in ENCODINGS {
        // Logarithms of scales of zero.
        ranges[6] = f64::NEG_INFINITY;
        let scene = whole("disc.ply", &made::compressed(encoding, &[ranges], &words));
        assert_eq!(scene.splats[1].scale, Vec3::splat((-2f32).exp()));
        assert!([0, 2].iter().all(|index| scene.splats[*index].scale.x == 0.0 && scene.splats[*index].scale.y > 0.0));
        // Splats of infinite scale, and one at the other end of the range.
        let infinite = [chunk(), [f64::INFINITY; 18]];
        let many = [vec![[0, 0, 0, 255]; 256], vec![[u32::MAX, 0, u32::MAX, 255]; 2]].concat();
        let scene = read("infinite.ply", &made::compressed(encoding, &infinite, &many)).unwrap();
        assert_eq!((scene.splats.len(), scene.skipped), (256, 2), "{}", scene.first_skipped);
    }
}

#[test]
fn spz_of_versions_1_to_3_is_decoded() {
    for version in [1, 2, 3] {
        for degree in 0..=4 {
            let mut content = made::spz_content(version, 3, degree, 0);
            let (of_position, of_rotation) = (if version == 1 { 6 } else { 9 }, if version == 3 { 4 } else { 3 });
            let at = |property: usize| {
                16 + 3 * [0, of_position, of_position + 1, of_position + 4, of_position + 7][property]
            };
            content[at(1)..at(1) + 3].copy_from_slice(&[0, 51, 255]);
            content[at(2)..at(2) + 3].copy_from_slice(&[0, 128, 255]);
            content[at(3)..at(3) + 3].copy_from_slice(&[160, 144, 176]);
            // 0.6 about x, and 0.8 about the next axis that is left out or follows.
            let rotation: &[u8] = match version {
                3 => &(3u32 << 30 | 434 << 20).to_le_bytes(),
                _ => &[204, 128, 127],
            };
            content[at(4)..at(4) + of_rotation].copy_from_slice(rotation);
            let splats = whole("scene.spz", &made::gzip(&content)).splats;
            let coordinate = |index: i32| (index - 100) as f32 / 8.0;
            let Splat { position, rotation, scale, color, opacity } = splats[0];
            assert_eq!(position, vec3(coordinate(0), -coordinate(1), -coordinate(2)), "version {version}");
            assert_eq!(splats[2].position.x, coordinate(6));
            let turned = glam::quat(0.6, 0.0, 0.0, 0.8);
            assert!(rotation.abs_diff_eq(turned, 6e-3), "version {version}: {rotation}");
            assert!(is_near(scale, vec3(1.0, (-1f32).exp(), 1f32.exp())), "{scale}");
            let [dark, bright] = [-0.5f32, 0.5].map(|half| 0.5 + 0.282_094_8 * half / 0.15);
            assert!(is_near(color, vec3(dark.max(0.0), 0.503_687_5, bright)), "{color}");
            assert_eq!((opacity, splats[1].opacity, splats[2].opacity), (0.0, 0.2, 1.0));
        }
    }
}

/// The axes of .spz are turned by half a turn about x, and so is what rotates about them.
#[test]
fn axes_of_spz_are_turned() {
    let mut content = made::spz_content(2, 1, 0, 0);
    let rotation = content.len() - 3;
    for (axis, expected) in [
        (0, glam::quat(0.6, 0.0, 0.0, 0.8)),
        (1, glam::quat(0.0, -0.6, 0.0, 0.8)),
        (2, glam::quat(0.0, 0.0, -0.6, 0.8)),
    ] {
        content[rotation..].fill(127);
        content[rotation + axis] = 204;
        let given = whole("scene.spz", &made::gzip(&content)).splats[0].rotation;
        assert!(given.abs_diff_eq(expected, 6e-3), "axis {axis}: {given}");
    }
}

#[test]
fn damaged_spz_is_refused() {
    let content = made::spz_content(3, 50, 3, 0);
    let with = |place: usize, byte: u8| {
        let mut content = content.clone();
        content[place] = byte;
        made::gzip(&content)
    };
    is_refused("scene.spz", &with(4, 4), &["version", "within gzip", "4", "1 to 3"]);
    is_refused("scene.spz", &with(4, 0), &["version", "0", "1 to 4"]);
    is_refused("scene.spz", &with(12, 5), &["degree of harmonics is 5", "0 to 4"]);
    is_refused("scene.spz", &with(12, 4), &["2250 bytes of harmonics, needed are 3600 for 50 splats"]);
    is_refused("scene.spz", &with(13, 24), &["24 bits behind the point", "at most 23"]);
    is_refused("scene.spz", &with(8, 49), &["goes on after its 49 splats"]);
    is_refused("scene.spz", &with(0, b'X'), &["gzip", "not .spz", "unpack"]);
    is_refused("scene.spz", &with(11, 255), &["announces 4278190130 splats", "cannot hold"]);
    is_refused("scene.spz", &with(9, 1), &["needed are", "306 splats"]);
    is_refused("scene.spz", &made::gzip(b"ply\nformat ascii 1.0\n"), &["gzip", "not .spz", "unpack"]);
    is_refused("scene.spz", &made::gzip(b""), &["gzip", "not .spz"]);
    let packed = made::gzip(&content);
    // Within the tables of gzip, the properties, the harmonics, and the check sum.
    for length in [2, 9, 30, packed.len() / 4, packed.len() - 9, packed.len() - 1] {
        refused("scene.spz", &packed[..length]);
    }
    let mut damaged = packed.clone();
    let place = damaged.len() - 6;
    damaged[place] ^= 1;
    is_refused("scene.spz", &damaged, &["unpacking"]);
    // Records of extensions are announced by a flag; those that nobody knows say nothing.
    let extended = |flags: u8, records: &[u8]| {
        let mut content = [&content[..], records].concat();
        content[14] = flags;
        made::gzip(&content)
    };
    let unknown = [&7u32.to_le_bytes()[..], &3u32.to_le_bytes(), b"any"].concat();
    assert_eq!(whole("scene.spz", &extended(2, &unknown)).splats.len(), 50);
    is_refused("scene.spz", &extended(0, &unknown), &["goes on after its 50 splats"]);
    is_refused("scene.spz", &extended(2, &unknown[..10]), &["extension is cut off"]);
    is_refused("scene.spz", &extended(2, &unknown[..7]), &["extension is cut off"]);
    is_refused("scene.spz", &extended(2, &made::spz_axes(17)), &["coordinate system has the number 17", "0 to 16"]);
    // Several members of gzip are one content.
    let (first, second) = content.split_at(333);
    let members = [made::gzip(first), made::gzip(second)].concat();
    assert_eq!(whole("scene.spz", &members).splats, whole("scene.spz", &made::gzip(&content)).splats);
}

#[test]
fn spz_of_version_4_is_decoded() {
    for degree in 0..=4 {
        let content = made::spz_content(3, 40, degree, 1);
        let (packed, streams) = (made::gzip(&content), made::spz_streams(&content, 1, &[]));
        let [one, other] = [whole("3.spz", &packed), whole("4.spz", &streams)];
        assert_eq!(
            (one.splats, one.antialiased, one.has_harmonics),
            (other.splats, other.antialiased, other.has_harmonics)
        );
        // A pipe tells nothing of its length.
        let piped =
            crate::renderer::scene::read(std::path::Path::new("pipe"), &streams[..], u64::MAX, u64::MAX).unwrap();
        assert_eq!(piped.splats.len(), 40);
    }
    let streams = made::spz_streams(&made::spz_content(3, 50, 3, 0), 0, &[]);
    let with = |place: usize, byte: u8| {
        let mut bytes = streams.clone();
        bytes[place] = byte;
        bytes
    };
    is_refused("4.spz", &with(12, 0), &["6 streams, needed are 5"]);
    is_refused("4.spz", &with(13, 24), &["24 bits behind the point"]);
    is_refused("4.spz", &with(15, 7), &["7 streams, needed are 6"]);
    is_refused("4.spz", &with(16, 31), &["begins at byte 31", "32 to"]);
    is_refused("4.spz", &with(40, 9), &["stream 0 is announced with 265 bytes, needed are 450"]);
    is_refused("4.spz", &with(8, 51), &["stream 0", "459"]);
    is_refused("4.spz", &with(11, 255), &["cannot hold"]);
    is_refused("4.spz", &[&streams[..], b"more"].concat(), &["goes on after its streams"]);
    for length in [5, 31, 40, 127, 130, 200, streams.len() - 1] {
        refused("4.spz", &streams[..length]);
    }
    for (place, byte) in streams.iter().enumerate().skip(32 + 96) {
        // Damage is seen, or changes numbers; it ends nothing else.
        let _ = read("4.spz", &with(place, byte ^ 0x55));
    }
}

/// In each of the coordinate systems that .spz can name, a Gaussian has the place and the extent that the directions of its axes say.
#[test]
fn axes_of_spz_are_those_that_it_names() {
    let names = [
        "LDB", "RDB", "LUB", "RUB", "LDF", "RDF", "LUF", "RUF", "LFD", "RFD", "LFU", "RFU", "LBD", "RBD", "LBU", "RBU",
    ];
    let direction = |letter: char| match letter {
        'R' => Vec3::X,
        'L' => Vec3::NEG_X,
        'D' => Vec3::Y,
        'U' => Vec3::NEG_Y,
        'F' => Vec3::Z,
        _ => Vec3::NEG_Z,
    };
    let content = made::spz_content(3, 30, 0, 2);
    let extent = |splat: &Splat| {
        let axes = glam::Mat3::from_quat(splat.rotation) * glam::Mat3::from_diagonal(splat.scale);
        axes * axes.transpose()
    };
    let of = |number: u32| {
        let files = [
            made::gzip(&[&content[..], &made::spz_axes(number)].concat()),
            made::spz_streams(&content, 2, &made::spz_axes(number)),
        ];
        let [one, other] = files.map(|file| whole("scene.spz", &file).splats);
        assert_eq!(one, other);
        one
    };
    // Right, down and front are the axes here, so nothing changes.
    let as_given = of(6);
    for (name, number) in names.into_iter().zip(1..) {
        let axes: Vec<Vec3> = name.chars().map(direction).collect();
        let axes = glam::Mat3::from_cols(axes[0], axes[1], axes[2]);
        for (splat, given) in of(number).iter().zip(&as_given) {
            assert_eq!(splat.position, axes * given.position, "{name}");
            let [found, expected] = [extent(splat), axes * extent(given) * axes.transpose()];
            let most = expected.to_cols_array().into_iter().fold(0f32, |most, part| most.max(part.abs()));
            assert!(found.abs_diff_eq(expected, 1e-5 * most), "{name}: {found} {expected}");
        }
    }
    assert_eq!(of(0), of(4), "what is not said is RUB");
}

#[test]
fn the_format_is_that_of_the_content() {
    let ply = trained(&[], Element::trained("float", 3));
    let spz = made::gzip(&made::spz_content(2, 3, 0, 0));
    for name in ["scene.ply", "scene.splat", "scene.spz", "SCENE.SPLAT", "scene", "scene.txt"] {
        assert_eq!(whole(name, &ply).splats.len(), 3, "{name}");
        assert_eq!(whole(name, &spz).splats.len(), 3, "{name}");
    }
    let web = include_bytes!("corpus/four.splat");
    assert_eq!(whole("SCENE.Splat", web).splats.len(), 4);
    // .splat has no mark.
    is_refused("scene.ply", web, &["begins with", ".splat by its name"]);
    is_refused("scene.splat", &web[1..], &["127 bytes", "multiples of 32"]);
}

/// As a shell's `--scene <(command)` has it.
#[cfg(unix)]
#[test]
fn scenes_may_come_through_pipes() {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    let through = |bytes: Vec<u8>| {
        let (reader, mut writer) = std::io::pipe().unwrap();
        // A reader that refuses the file closes its end.
        let written = std::thread::spawn(move || drop(writer.write_all(&bytes)));
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let scene = crate::renderer::scene::load(path.as_ref(), u64::MAX);
        drop(reader);
        written.join().unwrap();
        scene
    };
    for encoding in ENCODINGS {
        let file = made::ply(encoding, &[], &[Element::trained("float", 3000)]);
        assert_eq!(through(file).unwrap().splats.len(), 3000);
        let file = made::compressed(encoding, &[chunk()], &[[0, 0, 0, 255]; 200]);
        assert_eq!(through(file).unwrap().splats.len(), 200);
    }
    assert_eq!(through(made::gzip(&made::spz_content(2, 3000, 1, 0))).unwrap().splats.len(), 3000);
    let line = |bytes: Vec<u8>| format!("{:#}", through(bytes).err().unwrap());
    // Of what says nowhere how long it is, a pipe has no end that could be checked.
    let web = crate::renderer::scene::read("scene.splat".as_ref(), &[0; 64][..], u64::MAX, u64::MAX);
    assert!(format!("{:#}", web.err().unwrap()).contains("not a pipe"));
    assert!(line(vec![0; 1 << 20]).contains("begins with"), "{}", line(vec![0; 1 << 20]));
    let file = trained(&[], Element::trained("float", 3000));
    assert!(line(file[..file.len() - 1].to_vec()).contains("entry 2999 of element vertex: the file ends"));
}

#[test]
fn other_formats_are_named() {
    for name in ["scene.ply", "scene.splat", "scene.spz", "scene.sog"] {
        let with = |start: &[u8]| [start, &[7; 32], &[0; 64]].concat()[..64].to_vec();
        is_refused(name, &with(b"NGSP\x05\0\0\0"), &["the version of .spz is 5, allowed are 1 to 4"]);
        is_refused(name, &with(b"NGSP\x03\0\0\0\0\0\0\0\0\0\0\0"), &["without gzip is 3, allowed is 4"]);
        is_refused(name, &with(b"PK\x03\x04"), &[".sog", "splat-transform"]);
        is_refused(name, &with(b"\0\x01\0\0"), &[".ksplat", "splat-transform"]);
        is_refused(name, &with(b"glTF\x02"), &["glTF", "export .ply"]);
        is_refused(name, b"", &["empty"]);
        is_refused(name, b"{\"asset\":{}}", &[".gltf", ".sog", "export .ply", "splat-transform"]);
        for text in ["<!DOCTYPE html>", "version https://git-lfs.github.com/spec/v1\n", "solid x"] {
            let file = format!("{text:<64}");
            is_refused(name, file.as_bytes(), &["begins with", &text[..7].escape_default().to_string(), ".ply"]);
        }
    }
    is_refused("scene.ply", &[0xFF; 64], &["begins with \\xff", ".ply"]);
    // One byte is no mark.
    let mut web = *include_bytes!("corpus/four.splat");
    web[0] = b'{';
    assert_eq!(whole("scene.splat", &web).splats.len(), 4);
    is_refused("scene.ply", b"plywood", &["no PLY header"]);
}

#[test]
fn malformed_headers_are_refused_by_their_line() {
    let good = |vertex: Element| String::from_utf8(made::ply(Encoding::Text, &[], &[vertex])).unwrap();
    let file = good(Element::trained("float", 2));
    for (text, other, parts) in [
        ("property float y", "property flaot y", &["malformed", "Line 5", "property flaot y"][..]),
        ("element vertex 2", "element vertex two", &["malformed", "element vertex two"]),
        ("element vertex 2", "element vertex 99999999999999999999999", &["malformed", "999999"]),
        ("format ascii 1.0", "format utf-8 1.0", &["malformed", "format utf-8"]),
        ("format ascii 1.0\n", "", &["malformed", "No format line"]),
        ("format ascii 1.0\n", "property float x\n", &["malformed", "property float x"]),
        ("end_header", "end_haeder", &["no PLY header", "end_header is missing"]),
        ("property float y", "property float x", &["two properties of an element, have the same name"]),
        ("end_header", "element vertex 3\nend_header", &["two elements", "have the same name"]),
        ("property float rot_3\n", "", &["element vertex has no property rot_3"]),
        ("element vertex", "element splat", &["element vertex is missing"]),
        ("float opacity", "int opacity", &["property opacity of element vertex", "Int", "Float"]),
        ("float opacity", "list uchar float opacity", &["property opacity of element vertex", "List"]),
    ] {
        assert!(file.contains(text));
        is_refused("scene.ply", file.replacen(text, other, 1).as_bytes(), parts);
    }
    let half = |element: Element| trained(&[], element);
    is_refused("half.ply", &half(Element::trained("ushort", 2)), &["property x", "UShort", "half floats", "export"]);
}

/// Files that take memory or time without end from readers that believe them.
#[test]
fn hostile_files_take_neither_memory_nor_time() {
    let header = |encoding: &str, lines: &str| format!("ply\nformat {encoding} 1.0\n{lines}\nend_header\n");
    let vertex: String = TRAINED.iter().map(|name| format!("property float {name}\n")).collect();
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
        for lines in [
            "element a 4294967295",
            "element a 18446744073709551615\nproperty uchar b",
            "element a 4294967295\nproperty list uchar uchar b",
            &format!("element vertex 4294967295\n{vertex}"),
            &format!("element a 4294967295\nelement vertex 1\n{vertex}"),
            &format!("element vertex 100000\n{vertex}"),
            &format!("element vertex 1\n{vertex}property list uint double more"),
            "element chunk 16777216\nproperty float min_x\nelement vertex 4294967295\nproperty uint packed_position",
        ] {
            let file = header(encoding, lines.trim_end()).into_bytes();
            files.push(("hostile.ply", file.clone()));
            // Numbers of 255, and of 4294967295 in a list.
            files.push(("hostile.ply", [file.clone(), vec![255; 1000]].concat()));
            files.push(("hostile.ply", [file, b"4294967295 ".repeat(1000)].concat()));
        }
    }
    files.push(("lines.ply", [b"ply\n".to_vec(), vec![b'\n'; 4 << 20]].concat()));
    files.push(("line.ply", [b"ply\n".to_vec(), vec![b'a'; 4 << 20]].concat()));
    files.push(("comment.ply", [b"ply\ncomment ".to_vec(), vec![b'a'; 4 << 20]].concat()));
    let names: String = (0..9000).map(|index| format!("element {index:x} 0\n")).collect();
    files.push(("names.ply", format!("ply\n{names}").into_bytes()));
    files.push((
        "text.ply",
        [header("ascii", &format!("element vertex 9\n{vertex}")).into_bytes(), vec![b'1'; 4 << 20]].concat(),
    ));
    files.push((
        "blank.ply",
        [header("ascii", &format!("element vertex 9\n{vertex}")).into_bytes(), vec![b'\n'; 4 << 20]].concat(),
    ));
    // Much of nothing in little gzip: fewer splats are announced than there are, more, and as many as could be.
    for count in [1u32, 1 << 20, 900_000, u32::MAX] {
        let content = [b"NGSP\x02\0\0\0".to_vec(), count.to_le_bytes().to_vec(), vec![0; 16 << 20]].concat();
        files.push(("bomb.spz", made::gzip(&content)));
        let [header, zeros] = [made::spz_content(3, 0, 0, 0)[..16].to_vec(), vec![0; 20 * count.min(900_000) as usize]];
        let mut streams = made::spz_streams(
            &[&header[..8], &count.min(900_000).to_le_bytes(), &header[12..], &zeros].concat(),
            0,
            &[],
        );
        streams[8..12].copy_from_slice(&count.to_le_bytes());
        files.push(("bomb.spz", streams));
    }
    for (name, bytes) in files {
        let started = Instant::now();
        let (result, most) = most_during(|| read(name, &bytes));
        let splats = result.as_ref().map_or(0, |scene| scene.splats.len());
        let allowed = 2 * (bytes.len() + splats * size_of::<Splat>()) + (1 << 20);
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(90)]);
        assert!(most <= allowed, "{name} of {} bytes took {most}, allowed are {allowed}: {start:?}", bytes.len());
        assert!(started.elapsed() < Duration::from_secs(20), "{name} took {:?}: {start:?}", started.elapsed());
        if let Err(error) = result {
            let line = format!("{error:#}");
            assert!(!line.contains('\n') && line.len() < 300, "{line}");
        } else {
            assert!(name == "bomb.spz" || splats == 1, "{name} gave {splats} splats: {start:?}");
        }
    }
}

#[test]
fn large_files_take_no_more_memory_than_twice_themselves_and_their_scene() {
    let count = 20_000;
    let words: Vec<[u32; 4]> =
        (0..count as u32).map(|index| [index << 12, index << 15, index << 13, index << 11 | 255]).collect();
    let chunks = vec![chunk(); count / 256 + 1];
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for encoding in ENCODINGS {
        files.push((format!("{encoding:?}.ply"), made::ply(encoding, &[], &[Element::trained("float", count)])));
        files.push((format!("{encoding:?}.compressed.ply"), made::compressed(encoding, &chunks, &words)));
    }
    files.extend(
        [1, 2, 3]
            .map(|version| (format!("{version}.spz"), made::gzip(&made::spz_content(version, count as u32, 3, 0)))),
    );
    files.push(("4.spz".into(), made::spz_streams(&made::spz_content(3, count as u32, 3, 0), 0, &[])));
    files.push(("web.splat".into(), include_bytes!("corpus/four.splat").repeat(count / 4)));
    for (name, bytes) in files {
        let (scene, most) = most_during(|| whole(&name, &bytes));
        assert_eq!(scene.splats.len(), count, "{name}");
        let allowed = 2 * (bytes.len() + count * size_of::<Splat>());
        println!("{name:22} {:>9} bytes, scene {} bytes, taken {most}", bytes.len(), count * size_of::<Splat>());
        assert!(most <= allowed, "{name} of {} bytes took {most}, allowed are {allowed}", bytes.len());
        if name == "web.splat" {
            continue;
        }
        // Cut in the middle, where .splat has an end like any other.
        let half = &bytes[..bytes.len() / 2];
        let (line, most) = most_during(|| refused(&name, half));
        let allowed = 2 * (half.len() + count / 2 * size_of::<Splat>()) + (1 << 20);
        assert!(most <= allowed, "{name}, cut to {} bytes, took {most}, allowed are {allowed}: {line}", half.len());
    }
}
