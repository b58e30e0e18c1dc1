//! Says in one line where wgpu has no Vulkan backend to compile against.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let of_target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    // As wgpu has it.
    let native = ["windows", "linux", "android", "freebsd"].contains(&&*of_target("OS"));
    let apple = of_target("VENDOR") == "apple";
    let remedy = match apple {
        true if env::var_os("CARGO_FEATURE_VULKAN_PORTABILITY").is_some() => return,
        true => "enable the feature vulkan-portability, for MoltenVK",
        false => "depend on vksort-wgpu for other targets alone",
    };
    if !native {
        let target = env::var("TARGET").unwrap_or_default();
        println!("cargo::error=wgpu has no Vulkan backend on {target}: {remedy}");
    }
}
