//! How memory goes back to the system.

/// Memory from this size on is mapped on its own, and so returned as soon as it is freed: the segments of a journal are of
/// this size. A piece of a file that is read through a hub is less, as it would have to be mapped and cleared each time.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES_MIN: libc::c_int = 256 << 10;

/// How much may be free at the end of the heap before it is returned. A transfer takes and frees such
/// pieces all the time; returned at once, each would be mapped and cleared anew.
#[cfg(target_env = "gnu")]
const HEAP_FREE_BYTES_MAX: libc::c_int = 1 << 20;

/// Fixes the allocator's thresholds. Left alone they move up with use, and a stream's history stays with us after the
/// stream is gone.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no safe interface")]
pub(crate) fn return_what_is_freed() {
    // SAFETY: called before any other thread exists, with parameters from the documentation.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, HEAP_FREE_BYTES_MAX);
    }
}

/// Returns what only the start needed: free heap, and pages of code that was run once. A page that is needed
/// again comes back from the page cache.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "neither the allocator nor the mapping of the program has a safe interface")]
pub(crate) fn return_what_the_start_needed() {
    // SAFETY: it may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    for (start, length) in program_mappings() {
        // SAFETY: the range is a private mapping of a file that is never written, so that each page reads the same
        // after it was dropped.
        unsafe {
            libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
        }
    }
}

/// Where this program and its libraries are mapped, without what may ever be written.
#[cfg(target_env = "gnu")]
fn program_mappings() -> Vec<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapping = |line: &str| {
        let mut words = line.split_whitespace();
        let (range, rights, offset, path) = (words.next()?, words.next()?, words.next()?, words.nth(2)?);
        // Data that was relocated is `r--p` as well, and its pages are our own. It never is at the start of the file:
        // there are the headers and the constants.
        let constant = rights == "r-xp" || (rights == "r--p" && offset.bytes().all(|digit| digit == b'0'));
        let (start, end) = range.split_once('-')?;
        let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
        (constant && path.starts_with('/')).then(|| (start, end - start))
    };
    maps.lines().filter_map(mapping).collect()
}

/// Other allocators have no such threshold.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn return_what_is_freed() {}

/// Other systems are left as they are.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn return_what_the_start_needed() {}
