//! Returns freed memory to the operating system.

/// Allocations from this size on get a mapping of their own, which is returned as soon as it is freed. The segments of a
/// journal must be among them, or the memory of a deleted journal stays in the heap. The chunks of a file transfer through
/// a hub are smaller on purpose: mapping and clearing each of them would be slow.
#[cfg(target_env = "gnu")]
const MAPPED_BYTES_MIN: libc::c_int = journal::SEGMENT_BYTES as libc::c_int;

/// Free bytes at the top of the heap before they are returned. A file transfer allocates and frees chunks all the time;
/// without this slack the kernel would map and clear each of them again.
#[cfg(target_env = "gnu")]
const HEAP_FREE_BYTES_MAX: libc::c_int = 1 << 20;

/// Fixes the thresholds of the allocator. By default glibc raises them with use, and the memory of a deleted journal
/// would stay in the heap.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no safe interface")]
pub(crate) fn limit_retained_heap() {
    // SAFETY: called before any other thread exists, with parameters from the documentation.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, HEAP_FREE_BYTES_MAX);
    }
}

/// Returns memory that only the start needed: free heap, and pages of code that ran once. The kernel reloads a page that
/// is needed again from the page cache.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "neither the allocator nor the mapping of the program has a safe interface")]
pub(crate) fn release_startup_memory() {
    // SAFETY: `malloc_trim` may be called at any time.
    unsafe {
        libc::malloc_trim(0);
    }
    for (start, length) in program_mappings() {
        // SAFETY: the range is a private file mapping that is never written, so a dropped page is reloaded with the same
        // content.
        unsafe {
            libc::madvise(start as *mut libc::c_void, length, libc::MADV_DONTNEED);
        }
    }
}

/// The address ranges of this program and its libraries that are never written.
#[cfg(target_env = "gnu")]
fn program_mappings() -> Vec<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mapping = |line: &str| {
        let mut words = line.split_whitespace();
        let range = words.next()?;
        let rights = words.next()?;
        let offset = words.next()?;
        let path = words.nth(2)?;
        // `r--p` alone is not enough: relocated data is `r--p` too, and its private pages would be lost. Relocated data
        // never lies at offset 0 of the file, where the headers and constants are.
        let constant = rights == "r-xp" || (rights == "r--p" && offset.bytes().all(|digit| digit == b'0'));
        let (start, end) = range.split_once('-')?;
        let start = usize::from_str_radix(start, 16).ok()?;
        let end = usize::from_str_radix(end, 16).ok()?;
        (constant && path.starts_with('/')).then(|| (start, end - start))
    };
    maps.lines().filter_map(mapping).collect()
}

/// Other C libraries have no such thresholds.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn limit_retained_heap() {}

/// Does nothing without glibc.
#[cfg(not(target_env = "gnu"))]
pub(crate) fn release_startup_memory() {}
