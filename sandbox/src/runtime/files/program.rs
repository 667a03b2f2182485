//! The files of a program: the functions of WASI preview 1 that work on files, in the place of those of the
//! engine. What is about the standard streams is left to those.

use wasmtime::{AsContextMut as _, Caller, Extern, Linker};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p1::wasi_snapshot_preview1::{self as engine, WasiSnapshotPreview1 as _};
use wiggle::GuestMemory;

use super::file::{FileError, Stat};
use super::memory::{Access, CALL_BYTES_MAX, How, MemoryFiles, Open};

const MODULE: &str = "wasi_snapshot_preview1";
/// The number of the root folder, the first after the standard streams.
const ROOT: i32 = 3;

/// What a program has open.
pub(in super::super) struct Process {
    pub(in super::super) ctx: WasiP1Ctx,
    /// By their numbers, from [`ROOT`]. Empty where a program sees no files.
    open: Vec<Option<Descriptor>>,
}

struct Descriptor {
    open: Open,
    /// Where it is read and written next.
    at: u64,
}

/// The memory of a program.
struct Memory<'a>(&'a mut [u8]);

/// What a function returns where it could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Errno(i32);

type Done = Result<(), Errno>;

impl Errno {
    const BADF: Self = Self(8);
    const FAULT: Self = Self(21);
    const ILSEQ: Self = Self(25);
    const INVAL: Self = Self(28);
    const NAMETOOLONG: Self = Self(37);
}

/// The answer of the engine: some of its functions are async.
macro_rules! of_engine {
    (waits $($call:tt)*) => { $($call)*.await };
    (returns $($call:tt)*) => { $($call)* };
}

/// Puts functions before those of the engine, which get the calls for the standard streams.
macro_rules! functions {
    (
        $linker:ident, $process:ident, $own:ident, $memory:ident, $fd:ident,
        $($name:ident($($arg:ident: $type:ty),*) $how:ident $body:block)*
    ) => {$(
        $linker.func_wrap_async(
            MODULE,
            stringify!($name),
            move |mut caller: Caller<'_, T>, (fd, $($arg,)*): (i32, $($type,)*)| {
                #[allow(unused_variables, reason = "WASI has them, a function may not need them")]
                fn $name(
                    $own: &mut Process,
                    $memory: &mut Memory<'_>,
                    $fd: i32,
                    ($($arg,)*): ($($type,)*),
                ) -> Done $body
                Box::new(async move {
                    let fuel = caller.as_context_mut().hostcall_fuel();
                    let Some(Extern::Memory(memory)) = caller.get_export("memory") else {
                        return Err(wasmtime::format_err!("missing required memory export"));
                    };
                    let (bytes, host) = memory.data_and_store_mut(&mut caller);
                    let process = $process(host);
                    if process.has(fd) {
                        let done = $name(process, &mut Memory(bytes), fd, ($($arg,)*));
                        return Ok(done.err().map_or(0, |errno| errno.0));
                    }
                    let ctx = &mut process.ctx;
                    ctx.set_hostcall_fuel(fuel);
                    let memory = &mut GuestMemory::Unshared(bytes);
                    of_engine!($how engine::$name(ctx, memory, fd, $($arg),*))
                })
            },
        )?;
    )*};
}

/// Gives the programs of this linker their own files. Numbers that are no flags are places in the memory,
/// and lengths.
pub(in super::super) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    process: fn(&mut T) -> &mut Process,
) -> wasmtime::Result<()> {
    add_descriptors(linker, process)?;
    add_contents(linker, process)?;
    add_paths(linker, process)
}

/// Descriptors: what they are, and where.
fn add_descriptors<T: Send + 'static>(
    linker: &mut Linker<T>,
    process: fn(&mut T) -> &mut Process,
) -> wasmtime::Result<()> {
    functions! { linker, process, own, memory, fd,
        fd_close() waits {
            own.get(fd)?;
            // The root stays open: the list is never empty where a program sees files.
            if let Some(slot) = own.slot(fd).filter(|_| fd != ROOT) {
                *slot = None;
            }
            Ok(())
        }
        fd_fdstat_get(to: i32) waits {
            let open = &own.get(fd)?.open;
            let mut bytes = [0; 24];
            let flags = if open.access.append { FLAG_APPEND } else { 0 };
            fill(&mut bytes, 0, &[filetype(open.stat()?)]);
            fill(&mut bytes, 2, &u16::try_from(flags).unwrap_or(0).to_le_bytes());
            fill(&mut bytes, 8, &RIGHTS_ALL.to_le_bytes());
            fill(&mut bytes, 16, &RIGHTS_ALL.to_le_bytes());
            memory.put(to, &bytes)
        }
        fd_fdstat_set_flags(flags: i32) returns {
            own.get(fd)?.open.access.append = flags & FLAG_APPEND != 0;
            Ok(())
        }
        fd_filestat_get(to: i32) waits {
            let stat = own.get(fd)?.open.stat()?;
            memory.put(to, &filestat(stat))
        }
        fd_filestat_set_size(size: i64) waits {
            let size = u64::try_from(size).map_err(|_| Errno::INVAL)?;
            Ok(own.get(fd)?.open.writable()?.resize(size)?)
        }
        fd_prestat_dir_name(to: i32, length: i32) returns {
            own.get(fd).map(drop)?;
            match (fd, length) {
                (ROOT, 1..) => memory.put(to, b"/"),
                (ROOT, _) => Err(Errno::NAMETOOLONG),
                _ => Err(Errno::BADF),
            }
        }
        fd_prestat_get(to: i32) returns {
            own.get(fd).map(drop)?;
            if fd != ROOT {
                return Err(Errno::BADF);
            }
            memory.put(to, &[0, 0, 0, 0, 1, 0, 0, 0])
        }
        fd_seek(by: i64, from: i32, to: i32) waits {
            let descriptor = own.get(fd)?;
            let start = match from {
                0 => 0,
                1 => descriptor.at,
                2 => descriptor.open.stat()?.bytes.ok_or(Errno::INVAL)?,
                _ => return Err(Errno::INVAL),
            };
            descriptor.at = start.checked_add_signed(by).ok_or(Errno::INVAL)?;
            memory.put(to, &descriptor.at.to_le_bytes())
        }
        fd_sync() waits {
            own.get(fd).map(drop)
        }
        fd_tell(to: i32) returns {
            memory.put(to, &own.get(fd)?.at.to_le_bytes())
        }
    }
    Ok(())
}

/// What is read and written.
fn add_contents<T: Send + 'static>(
    linker: &mut Linker<T>,
    process: fn(&mut T) -> &mut Process,
) -> wasmtime::Result<()> {
    functions! { linker, process, own, memory, fd,
        fd_pread(parts: i32, count: i32, at: i64, done: i32) waits {
            let at = u64::try_from(at).map_err(|_| Errno::INVAL)?;
            own.get(fd)?.read(memory, (parts, count), at, done).map(drop)
        }
        fd_pwrite(parts: i32, count: i32, at: i64, done: i32) waits {
            let at = u64::try_from(at).map_err(|_| Errno::INVAL)?;
            own.get(fd)?.write(memory, (parts, count), Some(at), done).map(drop)
        }
        fd_read(parts: i32, count: i32, done: i32) waits {
            let descriptor = own.get(fd)?;
            descriptor.at = descriptor.read(memory, (parts, count), descriptor.at, done)?;
            Ok(())
        }
        fd_readdir(to: i32, length: i32, cookie: i64, done: i32) waits {
            let skipped = usize::try_from(cookie).map_err(|_| Errno::INVAL)?;
            let room = unsigned(length);
            let mut bytes = Vec::new();
            let entries = own.get(fd)?.open.list()?.into_iter().enumerate();
            for (at, (name, stat)) in entries.skip(skipped) {
                if bytes.len() >= room {
                    break;
                }
                let name_bytes = u32::try_from(name.len()).unwrap_or(0);
                bytes.extend((at as u64 + 1).to_le_bytes());
                bytes.extend(stat.number.to_le_bytes());
                bytes.extend(name_bytes.to_le_bytes());
                bytes.extend([filetype(stat), 0, 0, 0]);
                bytes.extend(name.bytes());
            }
            // An entry that is cut off is asked for again.
            bytes.truncate(room);
            memory.put(to, &bytes)?;
            memory.put_u32(done, bytes.len())
        }
        fd_write(parts: i32, count: i32, done: i32) waits {
            let descriptor = own.get(fd)?;
            let at = Some(descriptor.at).filter(|_| !descriptor.open.access.append);
            descriptor.at = descriptor.write(memory, (parts, count), at, done)?;
            Ok(())
        }
    }
    Ok(())
}

/// What is found by its path.
fn add_paths<T: Send + 'static>(
    linker: &mut Linker<T>,
    process: fn(&mut T) -> &mut Process,
) -> wasmtime::Result<()> {
    functions! { linker, process, own, memory, fd,
        path_create_directory(path: i32, length: i32) waits {
            let (files, path) = own.path(memory, fd, (path, length))?;
            Ok(files.make_folder(&path)?)
        }
        path_filestat_get(follow: i32, path: i32, length: i32, to: i32) waits {
            let (files, path) = own.path(memory, fd, (path, length))?;
            let stat = files.tree().stat(&path)?;
            memory.put(to, &filestat(stat))
        }
        path_open(
            follow: i32, path: i32, length: i32, how: i32, rights: i64, passed_on: i64, flags: i32, to: i32
        ) waits {
            let (files, path) = own.path(memory, fd, (path, length))?;
            let folder = how & 2 != 0;
            // A folder is opened with every right that there is, and to write is none of them.
            let access = Access {
                read: rights & RIGHT_READ != 0,
                write: rights & RIGHT_WRITE != 0 && !folder,
                append: flags & FLAG_APPEND != 0,
            };
            let how = How {
                access,
                create: how & 1 != 0,
                folder,
                exclusive: how & 4 != 0,
                truncate: how & 8 != 0,
            };
            let opened = Some(Descriptor { open: files.open(&path, how)?, at: 0 });
            let free = own.open.iter().position(Option::is_none).unwrap_or(own.open.len());
            match own.open.get_mut(free) {
                Some(slot) => *slot = opened,
                None => own.open.push(opened),
            }
            let fd = i32::try_from(free).ok().and_then(|free| free.checked_add(ROOT));
            memory.put(to, &fd.ok_or(Errno::BADF)?.to_le_bytes())
        }
        path_remove_directory(path: i32, length: i32) waits {
            let (files, path) = own.path(memory, fd, (path, length))?;
            Ok(files.remove(&path, true)?)
        }
        path_rename(path: i32, length: i32, fd_to: i32, path_to: i32, length_to: i32) waits {
            let (files, from) = own.path(memory, fd, (path, length))?;
            let (_, to) = own.path(memory, fd_to, (path_to, length_to))?;
            Ok(files.rename(&from, &to)?)
        }
        path_unlink_file(path: i32, length: i32) waits {
            let (files, path) = own.path(memory, fd, (path, length))?;
            Ok(files.remove(&path, false)?)
        }
    }
    Ok(())
}

impl Process {
    pub(in super::super) fn new(
        ctx: WasiP1Ctx,
        files: Option<&MemoryFiles>,
    ) -> Result<Self, FileError> {
        let root =
            |files: &MemoryFiles| files.folder().map(|open| Some(Descriptor { open, at: 0 }));
        let open = files.map(root).transpose()?.into_iter().collect();
        Ok(Self { ctx, open })
    }

    /// Whether a number is for these files to know.
    fn has(&self, fd: i32) -> bool {
        fd >= ROOT && !self.open.is_empty()
    }

    fn slot(&mut self, fd: i32) -> Option<&mut Option<Descriptor>> {
        self.open.get_mut(usize::try_from(fd.checked_sub(ROOT)?).ok()?)
    }

    fn get(&mut self, fd: i32) -> Result<&mut Descriptor, Errno> {
        self.slot(fd).and_then(Option::as_mut).ok_or(Errno::BADF)
    }

    fn path(
        &mut self,
        memory: &Memory<'_>,
        fd: i32,
        path: (i32, i32),
    ) -> Result<(MemoryFiles, String), Errno> {
        let name = memory.get(path.0, path.1)?;
        let name = str::from_utf8(name).map_err(|_| Errno::ILSEQ)?;
        let open = &self.get(fd)?.open;
        Ok((open.files.clone(), open.path(name)?))
    }
}

impl Descriptor {
    /// Reads into the parts of a memory, notes how much that was, and gives the place after it.
    fn read(
        &self,
        memory: &mut Memory<'_>,
        parts: (i32, i32),
        at: u64,
        done: i32,
    ) -> Result<u64, Errno> {
        let file = self.open.readable()?;
        let parts = memory.parts(parts)?;
        let room: usize = parts.iter().map(|(_, length)| *length).sum();
        let bytes = file.read(at, room.min(CALL_BYTES_MAX));
        let mut rest = bytes.as_slice();
        for (to, length) in parts {
            let (part, after) = rest.split_at(length.min(rest.len()));
            memory.put(to, part)?;
            rest = after;
        }
        memory.put_u32(done, bytes.len())?;
        Ok(at + bytes.len() as u64)
    }

    /// Writes the parts of a memory, notes how much that was, and gives the place after it.
    fn write(
        &self,
        memory: &mut Memory<'_>,
        parts: (i32, i32),
        at: Option<u64>,
        done: i32,
    ) -> Result<u64, Errno> {
        let file = self.open.writable()?;
        let mut bytes = Vec::new();
        for (from, length) in memory.parts(parts)? {
            let length = length.min(CALL_BYTES_MAX - bytes.len());
            bytes.extend(memory.bytes(from, length)?);
        }
        let end = file.write(at, &bytes)?;
        memory.put_u32(done, bytes.len())?;
        Ok(end)
    }
}

impl Memory<'_> {
    fn bytes(&self, at: i32, length: usize) -> Result<&[u8], Errno> {
        self.0.get(unsigned(at)..).and_then(|rest| rest.get(..length)).ok_or(Errno::FAULT)
    }

    fn get(&self, at: i32, length: i32) -> Result<&[u8], Errno> {
        self.bytes(at, unsigned(length))
    }

    fn put(&mut self, at: i32, bytes: &[u8]) -> Done {
        let place = self.0.get_mut(unsigned(at)..).and_then(|rest| rest.get_mut(..bytes.len()));
        place.ok_or(Errno::FAULT)?.copy_from_slice(bytes);
        Ok(())
    }

    fn put_u32(&mut self, at: i32, number: usize) -> Done {
        self.put(at, &u32::try_from(number).map_err(|_| Errno::FAULT)?.to_le_bytes())
    }

    /// The places and lengths of a list of them.
    fn parts(&self, (at, count): (i32, i32)) -> Result<Vec<(i32, usize)>, Errno> {
        if !(0..=PARTS_MAX).contains(&count) {
            return Err(Errno::INVAL);
        }
        let list = self.get(at, count * 8)?;
        let number = |bytes: &[u8]| Some(i32::from_le_bytes(bytes.try_into().ok()?));
        let part = |bytes: &[u8]| {
            let (at, length) = bytes.split_at_checked(4)?;
            Some((number(at)?, unsigned(number(length)?)))
        };
        list.chunks(8).map(|bytes| part(bytes).ok_or(Errno::FAULT)).collect()
    }
}

/// Places and lengths are numbers without a sign, which WebAssembly hands over with one.
fn unsigned(number: i32) -> usize {
    number.cast_unsigned() as usize
}

/// The most parts of a memory that one call reads or writes.
const PARTS_MAX: i32 = 1024;
const FLAG_APPEND: i32 = 1;
const RIGHT_READ: i64 = 1 << 1;
const RIGHT_WRITE: i64 = 1 << 6;
/// Every right. Whether something is open for reading or writing is told by the call.
const RIGHTS_ALL: u64 = (1 << 29) - 1;

fn filetype(stat: Stat) -> u8 {
    if stat.bytes.is_some() { 4 } else { 3 }
}

fn filestat(stat: Stat) -> [u8; 64] {
    let mut bytes = [0; 64];
    let time = u64::try_from(stat.changed().as_nanos()).unwrap_or(u64::MAX).to_le_bytes();
    fill(&mut bytes, 8, &stat.number.to_le_bytes());
    fill(&mut bytes, 16, &[filetype(stat)]);
    fill(&mut bytes, 24, &1_u64.to_le_bytes());
    fill(&mut bytes, 32, &stat.bytes.unwrap_or(0).to_le_bytes());
    for at in [40, 48, 56] {
        fill(&mut bytes, at, &time);
    }
    bytes
}

fn fill(bytes: &mut [u8], at: usize, part: &[u8]) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.get_mut(..part.len())) {
        place.copy_from_slice(part);
    }
}

impl From<FileError> for Errno {
    fn from(error: FileError) -> Self {
        Self(match error {
            FileError::NoEntry => 44,
            FileError::Exists => 20,
            FileError::NotFolder => 54,
            FileError::IsFolder => 31,
            FileError::NotEmpty => 55,
            FileError::NoSpace => 51,
            FileError::TooManyOpen => 33,
            FileError::NameTooLong => 37,
            FileError::Invalid => 28,
            FileError::BadDescriptor => 8,
            FileError::Unsupported => 58,
        })
    }
}
