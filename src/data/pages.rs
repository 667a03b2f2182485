//! The headers of Parquet pages, read before any page is: they say how much memory a page wants.
//!
//! A header is a Thrift struct in the compact protocol. Only its numbers matter here; everything
//! else is passed over within the bytes that there are.

/// What the header of a page says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) header_bytes: usize,
    pub(super) unpacked_bytes: i64,
    pub(super) packed_bytes: i64,
    /// How many values a data page has; zero for other pages.
    pub(super) values: i64,
    pub(super) encoding: i64,
}

/// How deep the structs of a header may nest.
const DEPTH_MAX: usize = 16;

/// Why a header could not be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// More bytes are needed.
    Short,
    /// No bytes could make it whole.
    Broken,
}

impl Page {
    /// Reads the header at the start of `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Bad> {
        let mut compact = Compact { bytes, at: 0 };
        let mut page = Self::default();
        compact.fields(DEPTH_MAX, &mut |path, value| match path {
            (0, 2) => page.unpacked_bytes = value,
            (0, 3) => page.packed_bytes = value,
            (5 | 8, 1) => page.values = value,
            (5, 2) | (8, 4) => page.encoding = value,
            _ => {}
        })?;
        page.header_bytes = compact.at;
        Ok(page)
    }
}

struct Compact<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The field of the outer struct (0 for none) and the field within it.
type FieldPath = (i64, i64);

impl Compact<'_> {
    /// Reads the outer struct: calls `seen` with its numbers, and with those of the structs in it.
    fn fields(&mut self, depth: usize, seen: &mut dyn FnMut(FieldPath, i64)) -> Result<(), Bad> {
        self.members(0, depth, seen)
    }

    fn members(
        &mut self,
        outer: i64,
        depth: usize,
        seen: &mut dyn FnMut(FieldPath, i64),
    ) -> Result<(), Bad> {
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            let step = i64::from(head >> 4);
            field = if step == 0 { self.signed()? } else { field.saturating_add(step) };
            match head & 15 {
                4..=6 => {
                    let value = self.signed()?;
                    seen((outer, field), value);
                }
                12 if outer == 0 && depth == DEPTH_MAX => self.members(field, depth - 1, seen)?,
                kind => self.pass(kind, depth)?,
            }
        }
    }

    /// Passes over a value.
    fn pass(&mut self, kind: u8, depth: usize) -> Result<(), Bad> {
        let deeper = depth.checked_sub(1).ok_or(Bad::Broken)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.signed().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = usize::try_from(self.unsigned()?).map_err(|_| Bad::Broken)?;
                self.skip(length)
            }
            9 | 10 => self.list(deeper),
            12 => self.members(-1, deeper, &mut |_, _| ()),
            _ => Err(Bad::Broken),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Bad> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.unsigned()? } else { u64::from(head >> 4) };
        let kind = head & 15;
        for _ in 0..count {
            match kind {
                // A boolean in a list takes a byte, unlike one in a struct.
                1 | 2 => self.skip(1)?,
                kind => self.pass(kind, depth)?,
            }
        }
        Ok(())
    }

    fn skip(&mut self, count: usize) -> Result<(), Bad> {
        if count > self.bytes.len().saturating_sub(self.at) {
            return Err(Bad::Short);
        }
        self.at += count;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Bad> {
        let byte = *self.bytes.get(self.at).ok_or(Bad::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn unsigned(&mut self) -> Result<u64, Bad> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(Bad::Broken)
    }

    /// A zigzag number.
    fn signed(&mut self) -> Result<i64, Bad> {
        let value = self.unsigned()?;
        let half = i64::try_from(value >> 1).map_err(|_| Bad::Broken)?;
        Ok(if value & 1 == 0 { half } else { !half })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_is_read_and_its_statistics_are_passed_over() {
        // type = 0, unpacked = 10, packed = 7, data page { values = 3, encoding = 8,
        // statistics { 1: "ab" } }.
        let bytes = [
            0x15, 0, 0x15, 20, 0x15, 14, 0x2c, 0x15, 6, 0x15, 16, 0x3c, 0x18, 2, b'a', b'b', 0, 0,
            0, 99,
        ];
        let page =
            Page { header_bytes: 19, unpacked_bytes: 10, packed_bytes: 7, values: 3, encoding: 8 };
        assert_eq!(Page::read(&bytes), Ok(page));
        for length in 0..19 {
            assert_eq!(Page::read(&bytes[..length]), Err(Bad::Short), "{length}");
        }
    }

    #[test]
    fn the_number_of_a_field_may_be_the_largest() {
        // A field with its number written out, then the one after it.
        let far = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        let bytes = [&[0x05][..], &far, &[0, 0x15, 0, 0]].concat();
        assert!(Page::read(&bytes).is_ok());
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Page::read(&bytes);
        }
    }
}
