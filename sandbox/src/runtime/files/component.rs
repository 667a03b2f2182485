//! The files of a component: `wasi:filesystem` in the place of the one of the engine, which opens files of
//! the machine.
//!
//! The tables of the engine know its own kinds of open files. A number of ours is in their place.

use std::vec;

use bytes::Bytes;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, ErrorCode, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, FsError, FsResult, InputStream, OutputStream, Pollable,
    StreamError, StreamResult,
};

use super::file::{File, FileError, Stat};
use super::memory::{Access, CALL_BYTES_MAX, How, MemoryFiles, Open};

/// What the functions of the interface work on.
pub(in super::super) struct View<'a> {
    pub(in super::super) files: Option<&'a MemoryFiles>,
    pub(in super::super) table: &'a mut ResourceTable,
}

/// Gives the guests of this linker their own files.
pub(in super::super) fn add_to_linker<T: Send + 'static>(
    linker: &mut Linker<T>,
    view: fn(&mut T) -> View<'_>,
) -> wasmtime::Result<()> {
    types::add_to_linker::<T, Viewed>(linker, view)?;
    preopens::add_to_linker::<T, Viewed>(linker, view)
}

struct Viewed;

impl HasData for Viewed {
    type Data<'a> = View<'a>;
}

type Fd = Resource<Descriptor>;

impl View<'_> {
    fn get(&self, fd: &Fd) -> FsResult<&Open> {
        Ok(self.table.get(&Resource::<Open>::new_borrow(fd.rep()))?)
    }

    fn push(&mut self, open: Open) -> wasmtime::Result<Fd> {
        Ok(Resource::new_own(self.table.push(open)?.rep()))
    }

    fn path(&self, fd: &Fd, path: &str) -> FsResult<(MemoryFiles, String)> {
        let open = self.get(fd)?;
        Ok((open.files.clone(), open.path(path)?))
    }

    fn writer(&mut self, fd: &Fd, at: Option<u64>) -> FsResult<Resource<DynOutputStream>> {
        let file = self.get(fd)?.writable()?.clone();
        let writer: DynOutputStream = Box::new(Writer { file, at });
        Ok(self.table.push(writer)?)
    }
}

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        let Some(files) = self.files else { return Ok(Vec::new()) };
        let root = files.folder()?;
        Ok(vec![(self.push(root)?, "/".to_owned())])
    }
}

impl types::Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        error.downcast()
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.table.get(&error)?.downcast_ref::<FileError>().map(|error| code(*error)))
    }
}

impl HostDescriptor for View<'_> {
    async fn advise(&mut self, _: Fd, _: u64, _: u64, _: Advice) -> FsResult<()> {
        Ok(())
    }

    async fn sync_data(&mut self, _: Fd) -> FsResult<()> {
        Ok(())
    }

    async fn sync(&mut self, _: Fd) -> FsResult<()> {
        Ok(())
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        let open = self.get(&fd)?;
        let known = [
            (open.access.read, DescriptorFlags::READ),
            (open.access.write, DescriptorFlags::WRITE),
            (open.file().is_err(), DescriptorFlags::MUTATE_DIRECTORY),
        ];
        let set = known.into_iter().filter(|(is_set, _)| *is_set);
        Ok(set.fold(DescriptorFlags::empty(), |all, (_, flag)| all | flag))
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        Ok(kind(self.get(&fd)?.stat()?))
    }

    async fn set_size(&mut self, fd: Fd, size: u64) -> FsResult<()> {
        Ok(self.get(&fd)?.writable()?.resize(size)?)
    }

    async fn set_times(&mut self, _: Fd, _: NewTimestamp, _: NewTimestamp) -> FsResult<()> {
        Ok(())
    }

    async fn read(&mut self, fd: Fd, length: u64, at: u64) -> FsResult<(Vec<u8>, bool)> {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(CALL_BYTES_MAX);
        let bytes = self.get(&fd)?.readable()?.read(at, length);
        let is_end = bytes.is_empty();
        Ok((bytes, is_end))
    }

    async fn write(&mut self, fd: Fd, bytes: Vec<u8>, at: u64) -> FsResult<u64> {
        let part = bytes.get(..CALL_BYTES_MAX).unwrap_or(&bytes);
        self.get(&fd)?.writable()?.write(Some(at), part)?;
        Ok(part.len() as u64)
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        let open = self.get(&fd)?;
        // It counts as open, too.
        let kept = open.files.folder()?;
        let entries = open.list()?.into_iter();
        let listing = self.table.push(Listing { entries, _open: kept })?;
        Ok(Resource::new_own(listing.rep()))
    }

    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let (files, path) = self.path(&fd, &path)?;
        Ok(files.make_folder(&path)?)
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        Ok(told(self.get(&fd)?.stat()?))
    }

    async fn stat_at(&mut self, fd: Fd, _: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let (files, path) = self.path(&fd, &path)?;
        let stat = files.tree().stat(&path)?;
        Ok(told(stat))
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        path: String,
        _: NewTimestamp,
        _: NewTimestamp,
    ) -> FsResult<()> {
        let (files, path) = self.path(&fd, &path)?;
        files.tree().stat(&path)?;
        Ok(())
    }

    async fn link_at(&mut self, _: Fd, _: PathFlags, _: String, _: Fd, _: String) -> FsResult<()> {
        Err(FileError::Unsupported.into())
    }

    async fn symlink_at(&mut self, _: Fd, _: String, _: String) -> FsResult<()> {
        Err(FileError::Unsupported.into())
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        let (files, path) = self.path(&fd, &path)?;
        files.tree().stat(&path)?;
        // What is there is no link.
        Err(FileError::Invalid.into())
    }

    async fn open_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        path: String,
        how: OpenFlags,
        access: DescriptorFlags,
    ) -> FsResult<Fd> {
        let (files, path) = self.path(&fd, &path)?;
        let access = Access {
            read: access.contains(DescriptorFlags::READ),
            write: access.contains(DescriptorFlags::WRITE),
            append: false,
        };
        let open = files.open(
            &path,
            How {
                access,
                create: how.contains(OpenFlags::CREATE),
                exclusive: how.contains(OpenFlags::EXCLUSIVE),
                truncate: how.contains(OpenFlags::TRUNCATE),
                folder: how.contains(OpenFlags::DIRECTORY),
            },
        )?;
        self.push(open).map_err(FsError::trap)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Open>::new_own(fd.rep()))?;
        Ok(())
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let (files, path) = self.path(&fd, &path)?;
        Ok(files.remove(&path, true)?)
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        let (files, path) = self.path(&fd, &path)?;
        Ok(files.remove(&path, false)?)
    }

    async fn rename_at(&mut self, fd: Fd, from: String, to_fd: Fd, to: String) -> FsResult<()> {
        let (files, from) = self.path(&fd, &from)?;
        let to = self.get(&to_fd)?.path(&to)?;
        Ok(files.rename(&from, &to)?)
    }

    fn read_via_stream(&mut self, fd: Fd, at: u64) -> FsResult<Resource<DynInputStream>> {
        let file = self.get(&fd)?.readable()?.clone();
        let reader: DynInputStream = Box::new(Reader { file, at });
        Ok(self.table.push(reader)?)
    }

    fn write_via_stream(&mut self, fd: Fd, at: u64) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&fd, Some(at))
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.writer(&fd, None)
    }

    async fn is_same_object(&mut self, a: Fd, b: Fd) -> wasmtime::Result<bool> {
        let number = |fd: &Fd| Ok::<_, FsError>(self.get(fd)?.stat()?.number);
        Ok(number(&a)? == number(&b)?)
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        Ok(hash(self.get(&fd)?.stat()?))
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Fd,
        _: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let (files, path) = self.path(&fd, &path)?;
        let stat = files.tree().stat(&path)?;
        Ok(hash(stat))
    }
}

impl HostDirectoryEntryStream for View<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let listing = self.table.get_mut(&Resource::<Listing>::new_borrow(stream.rep()))?;
        let entry = listing.entries.next();
        Ok(entry.map(|(name, stat)| DirectoryEntry { type_: kind(stat), name }))
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.table.delete(Resource::<Listing>::new_own(stream.rep()))?;
        Ok(())
    }
}

/// What is left of the names in a folder.
struct Listing {
    entries: vec::IntoIter<(String, Stat)>,
    _open: Open,
}

struct Reader {
    file: File,
    at: u64,
}

#[async_trait]
impl Pollable for Reader {
    async fn ready(&mut self) {}
}

impl InputStream for Reader {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let bytes = self.file.read(self.at, size.min(CALL_BYTES_MAX));
        if bytes.is_empty() && size > 0 {
            return Err(StreamError::Closed);
        }
        self.at += bytes.len() as u64;
        Ok(bytes.into())
    }
}

struct Writer {
    file: File,
    /// None for the end.
    at: Option<u64>,
}

#[async_trait]
impl Pollable for Writer {
    async fn ready(&mut self) {}
}

impl OutputStream for Writer {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let end = self.file.write(self.at, &bytes);
        let end = end.map_err(|error| StreamError::LastOperationFailed(error.into()))?;
        self.at = self.at.map(|_| end);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(CALL_BYTES_MAX)
    }
}

impl From<FileError> for FsError {
    fn from(error: FileError) -> Self {
        code(error).into()
    }
}

fn code(error: FileError) -> ErrorCode {
    match error {
        FileError::NoEntry => ErrorCode::NoEntry,
        FileError::Exists => ErrorCode::Exist,
        FileError::NotFolder => ErrorCode::NotDirectory,
        FileError::IsFolder => ErrorCode::IsDirectory,
        FileError::NotEmpty => ErrorCode::NotEmpty,
        FileError::NoSpace => ErrorCode::InsufficientSpace,
        FileError::TooManyOpen => ErrorCode::InsufficientMemory,
        FileError::NameTooLong => ErrorCode::NameTooLong,
        FileError::Invalid => ErrorCode::Invalid,
        FileError::BadDescriptor => ErrorCode::BadDescriptor,
        FileError::Unsupported => ErrorCode::Unsupported,
    }
}

fn kind(stat: Stat) -> DescriptorType {
    if stat.bytes.is_some() { DescriptorType::RegularFile } else { DescriptorType::Directory }
}

fn told(stat: Stat) -> DescriptorStat {
    let time = stat.changed();
    let time = Some(Datetime { seconds: time.as_secs(), nanoseconds: time.subsec_nanos() });
    DescriptorStat {
        type_: kind(stat),
        link_count: 1,
        size: stat.bytes.unwrap_or(0),
        data_access_timestamp: time,
        data_modification_timestamp: time,
        status_change_timestamp: time,
    }
}

fn hash(stat: Stat) -> MetadataHashValue {
    MetadataHashValue { lower: stat.number, upper: 0 }
}
