//! What may cross, and bytes that may not.

use proptest::prelude::*;

use super::*;

fn plain() -> impl Strategy<Value = PyValue> {
    let atom = prop_oneof![
        Just(PyValue::None),
        any::<bool>().prop_map(PyValue::Bool),
        any::<i64>().prop_map(|value| PyValue::Int(value.into())),
        proptest::collection::vec(any::<u32>(), 0..9)
            .prop_map(|words| PyValue::Int(-BigInt::from(BigUint::new(words)))),
        (-1e300..1e300).prop_map(PyValue::Float),
        ".{0,8}".prop_map(|text: String| PyValue::Str(text.into_bytes())),
        proptest::collection::vec(any::<u8>(), 0..8).prop_map(PyValue::Bytes),
    ];
    let key = atom.clone();
    atom.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(PyValue::List),
            proptest::collection::vec(inner.clone(), 0..5).prop_map(PyValue::Tuple),
            proptest::collection::vec(key.clone(), 0..5).prop_map(PyValue::Set),
            proptest::collection::vec((key.clone(), inner), 0..5).prop_map(PyValue::Dict),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(value in plain()) {
        let bytes = encode(&value);
        prop_assert_eq!(check(&bytes).map(|seen| seen.nan), Ok(false));
        prop_assert_eq!(decode(&bytes).map(|read| read.0), Ok(value));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(check(&bytes), decode(&bytes).map(|read| read.1));
    }

    #[test]
    fn a_changed_byte_never_panics(value in plain(), at in any::<usize>(), byte in any::<u8>()) {
        let mut bytes = encode(&value);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = decode(&bytes);
        bytes.truncate(at);
        prop_assert!(check(&bytes).is_err());
    }
}

#[test]
fn kinds_that_do_more_than_hold_data_are_refused() {
    for kind in b"IcrSRtaAzZfx:)0" {
        let bytes = [*kind, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(check(&bytes), Err(MarshalError::Kind(*kind)), "{}", char::from(*kind));
    }
    // A reference may also hide in the flag that every kind has.
    assert_eq!(check(&[b'i' | 0x80, 1, 0, 0, 0]), Err(MarshalError::Kind(b'i' | 0x80)));
}

#[test]
fn counts_are_no_larger_than_the_bytes_that_follow() {
    for kind in b"([<>su" {
        assert_eq!(check(&[*kind, 255, 255, 255, 255, b'N']), Err(MarshalError::Short));
    }
    assert_eq!(check(&[b'l', 0, 0, 0, 0x80]), Err(MarshalError::Short));
}

#[test]
fn what_has_no_hash_is_no_key() {
    assert_eq!(check(b"{[\0\0\0\0N0"), Err(MarshalError::Unhashable("list")));
    assert_eq!(check(b"<\x01\0\0\0(\x01\0\0\0{0"), Err(MarshalError::Unhashable("dict")));
    assert!(check(b"<\x01\0\0\0>\x01\0\0\0N").is_ok());
}

#[test]
fn integers_have_one_form() {
    let malformed = Err(MarshalError::Malformed("integer"));
    assert_eq!(check(b"l\0\0\0\0"), malformed);
    assert_eq!(check(b"l\x01\0\0\0\0\0"), malformed);
    assert_eq!(check(b"l\x01\0\0\0\0\x80"), malformed);
    assert_eq!(decode(b"l\xff\xff\xff\xff\x05\0").unwrap().0, PyValue::Int((-5).into()));
}

#[test]
fn text_may_hold_lone_surrogates_and_nothing_worse() {
    assert!(check(b"u\x03\0\0\0\xed\xa0\x80").is_ok());
    for bad in
        [b"u\x02\0\0\0\xc0\x80".as_slice(), b"u\x04\0\0\0\xf4\x90\x80\x80", b"u\x01\0\0\0\xff"]
    {
        assert_eq!(check(bad), Err(MarshalError::Malformed("text")));
    }
}

#[test]
fn nesting_ends() {
    let mut bytes = b"[\x01\0\0\0".repeat(5000);
    bytes.push(b'N');
    assert_eq!(check(&bytes), Err(MarshalError::Deep));
}

#[test]
fn what_is_not_a_number_is_seen() {
    assert!(check(&encode(&PyValue::List(vec![PyValue::Complex(0.0, f64::NAN)]))).unwrap().nan);
}
