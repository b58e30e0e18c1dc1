# The targets of vksort, for the installed package and for CMakeLists.txt, which builds the library first. These variables say
# where its files are:
#
#   _vksort_prefix    the folder with everything, on Windows also with bin
#   _vksort_libdir    the folder in it with the libraries
#   _vksort_include   the folder of the headers
#   _vksort_abi       the version in the name of the shared library
#   _vksort_needed    what programs link behind the static library
#   _vksort_windows   on Windows the compiler of Rust's host, MSVC or GNU

# The names that install.sh gives. On Windows a program links to the import library, and the DLL is in bin.
set(_vksort_static "${_vksort_libdir}/libvksort.a")
if(WIN32)
    set(_vksort_shared "bin/vksort_capi.dll")
    set(_vksort_imports "${_vksort_libdir}/libvksort.dll.a")
    if(_vksort_windows STREQUAL "MSVC")
        set(_vksort_imports "${_vksort_libdir}/vksort.dll.lib")
        set(_vksort_static "${_vksort_libdir}/vksort.lib")
    endif()
elseif(APPLE)
    set(_vksort_shared "${_vksort_libdir}/libvksort.${_vksort_abi}.dylib")
else()
    set(_vksort_shared "${_vksort_libdir}/libvksort.so.${_vksort_abi}")
endif()

if(NOT TARGET vksort::vksort)
    add_library(vksort::vksort SHARED IMPORTED GLOBAL)
    set_target_properties(vksort::vksort PROPERTIES
        IMPORTED_LOCATION "${_vksort_prefix}/${_vksort_shared}"
        INTERFACE_INCLUDE_DIRECTORIES "${_vksort_include}")
    if(WIN32)
        set_target_properties(vksort::vksort PROPERTIES IMPORTED_IMPLIB "${_vksort_prefix}/${_vksort_imports}")
    elseif(APPLE)
        set_target_properties(vksort::vksort PROPERTIES IMPORTED_SONAME "@rpath/libvksort.${_vksort_abi}.dylib")
    else()
        set_target_properties(vksort::vksort PROPERTIES IMPORTED_SONAME "libvksort.so.${_vksort_abi}")
    endif()
endif()

if(NOT TARGET vksort::vksort_static)
    add_library(vksort::vksort_static STATIC IMPORTED GLOBAL)
    set_target_properties(vksort::vksort_static PROPERTIES
        IMPORTED_LOCATION "${_vksort_prefix}/${_vksort_static}"
        INTERFACE_LINK_LIBRARIES "${_vksort_needed}"
        INTERFACE_INCLUDE_DIRECTORIES "${_vksort_include}")
endif()
