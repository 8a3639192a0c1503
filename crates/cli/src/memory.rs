//! How the system's allocator gives memory back.

/// Memory above this size is mapped on its own, and so returned as soon as it is freed.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES_MIN: libc::c_int = 128 << 10;

/// Fixes the allocator's threshold. Left alone it moves up with use, and a stream's history stays with us
/// after the stream is gone.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no safe interface")]
pub(crate) fn return_what_is_freed() {
    // SAFETY: called before any other thread exists, with parameters from the documentation.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
    }
}

/// Other allocators have no such threshold.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn return_what_is_freed() {}
