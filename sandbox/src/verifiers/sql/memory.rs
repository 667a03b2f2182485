//! The memory of a query. The values that a query makes may all be there at once, and no limit of `SQLite`
//! bounds their sum for one connection: 36 nested calls of `max` hold gigabytes. So `SQLite` allocates here, and
//! a thread that runs a query has so many bytes and no more.
//!
//! The memory methods are those of "Application-Defined Memory Allocators" in the manual of `SQLite`.

#![expect(unsafe_code, reason = "SQLite asks for memory by raw pointers")]

use std::alloc::{Layout, alloc, dealloc, realloc};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;

use rusqlite::{Connection, OpenFlags, ffi};

/// In front of each piece of memory: its size. `SQLite` wants pieces to be aligned to 8 bytes.
const HEADER: usize = 16;
/// No limit: what is freed is added to it again.
const UNLIMITED: i64 = i64::MAX;

thread_local! {
    /// Bytes that the thread may still take.
    static LEFT: Cell<i64> = const { Cell::new(UNLIMITED) };
}

/// A connection without data that writes no files, and whose memory is counted.
pub(super) fn bare() -> rusqlite::Result<Connection> {
    install();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_MEMORY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_in_memory_with_flags(flags)
}

/// Makes `SQLite` allocate here, before the first connection.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(take),
            xFree: Some(free),
            xRealloc: Some(resize),
            xSize: Some(size),
            xRoundup: Some(round_up),
            xInit: Some(begin),
            xShutdown: Some(end),
            pAppData: null_mut(),
        };
        // SAFETY: the methods are copied, and keep the contract of each: see below.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
    });
}

/// Runs with so many bytes for all that `SQLite` takes meanwhile on this thread. Beyond them it says that it
/// is out of memory.
pub(super) fn within<T>(bytes: i64, run: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.set(UNLIMITED);
        }
    }
    let _restore = Restore;
    LEFT.set(bytes);
    run()
}

/// Whether `more` bytes may be taken; they are, then.
fn pays(more: i64) -> bool {
    let left = LEFT.get();
    let pays = more <= left;
    if pays {
        LEFT.set(left.saturating_sub(more));
    }
    pays
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, HEADER).ok()
}

unsafe extern "C" fn take(bytes: c_int) -> *mut c_void {
    let (Ok(wanted), true) = (usize::try_from(bytes), bytes > 0) else { return null_mut() };
    let Some(layout) = layout(wanted).filter(|_| pays(bytes.into())) else { return null_mut() };
    // SAFETY: the layout has a header at least, so its size is not 0.
    unsafe { with_header(alloc(layout), wanted) }
}

unsafe extern "C" fn resize(memory: *mut c_void, bytes: c_int) -> *mut c_void {
    let Ok(wanted) = usize::try_from(bytes) else { return null_mut() };
    // SAFETY: `memory` came from `take` or from here, and is not freed.
    let before = unsafe { size_of_piece(memory) };
    let more = i64::from(bytes) - i64::try_from(before).unwrap_or(i64::MAX);
    let (Some(old), Some(new)) = (layout(before), layout(wanted)) else { return null_mut() };
    if !pays(more) {
        return null_mut();
    }
    // SAFETY: the piece begins with its header, was made with this layout, and the new size is not 0.
    unsafe { with_header(realloc(memory.cast::<u8>().sub(HEADER), old, new.size()), wanted) }
}

unsafe extern "C" fn free(memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    // SAFETY: `memory` came from `take` or `resize`, and is not freed.
    let bytes = unsafe { size_of_piece(memory) };
    if let Some(layout) = layout(bytes) {
        // SAFETY: the piece begins with its header, and was made with this layout.
        unsafe { dealloc(memory.cast::<u8>().sub(HEADER), layout) };
    }
    LEFT.set(LEFT.get().saturating_add_unsigned(bytes as u64));
}

unsafe extern "C" fn size(memory: *mut c_void) -> c_int {
    // SAFETY: `SQLite` asks for the size of what it was given.
    let bytes = if memory.is_null() { 0 } else { unsafe { size_of_piece(memory) } };
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.checked_add(7).map_or(bytes, |more| more & !7)
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}

/// Writes the size in front of a piece; gives what `SQLite` sees of it.
///
/// # Safety
/// `piece` is null, or has a header and is aligned to it.
unsafe fn with_header(piece: *mut u8, bytes: usize) -> *mut c_void {
    if piece.is_null() {
        return null_mut();
    }
    // SAFETY: see above.
    unsafe {
        #[expect(clippy::cast_ptr_alignment, reason = "aligned to 16 bytes")]
        piece.cast::<usize>().write(bytes);
        piece.add(HEADER).cast()
    }
}

/// # Safety
/// `memory` came from [`take`] or [`resize`], and is not freed.
unsafe fn size_of_piece(memory: *mut c_void) -> usize {
    // SAFETY: see above.
    unsafe {
        #[expect(clippy::cast_ptr_alignment, reason = "aligned to 16 bytes")]
        memory.cast::<u8>().sub(HEADER).cast::<usize>().read()
    }
}
