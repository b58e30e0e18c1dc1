//! The snippets of the guide, as documentation tests.

macro_rules! chapters {
    ($($name:ident $file:literal)*) => {
        $(
            #[doc = include_str!(concat!("../docs/guide/src/", $file, ".md"))]
            struct $name;
        )*
    };
}

chapters! {
    First "first"
    Frame "frame"
    Barriers "barriers"
    Counts "counts"
    Widths "widths"
    Floats "floats"
    Bindings "bindings"
    FromFidelityFx "from-fidelityfx"
    Right "right"
    Segments "segments"
}

#[cfg(feature = "keys-64")]
chapters! {
    Records "records"
}
