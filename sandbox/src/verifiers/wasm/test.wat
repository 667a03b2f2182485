;; A plugin that does what the tests ask of it.
(component
  (core module $code
    (memory (export "memory") 9)
    (global $free (mut i32) (i32.const 128))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      global.get $free
      (global.set $free (i32.and (i32.add (i32.add (global.get $free) (local.get 3)) (i32.const 15)) (i32.const -8))))
    (data (i32.const 64) "a reason")
    (data (i32.const 80) "{\"seen\":1}")
    ;; The first letter of the completion says what happens.
    (func (export "verify") (param i32 i32) (param $text i32) (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (local $letter i32)
      (local.set $letter (i32.load8_u (local.get $text)))
      (f64.store (i32.const 16) (f64.const 0.5))
      (i64.store (i32.const 24) (i64.const 0xa00000050))
      (if (i32.eq (local.get $letter) (i32.const 0x74)) (then unreachable))
      (if (i32.eq (local.get $letter) (i32.const 0x73)) (then (loop $spin (br $spin))))
      (if (i32.eq (local.get $letter) (i32.const 0x6e)) (then (f64.store (i32.const 16) (f64.const nan))))
      (if (i32.eq (local.get $letter) (i32.const 0x6a)) (then (i64.store (i32.const 24) (i64.const 0x800000040))))
      (if (i32.eq (local.get $letter) (i32.const 0x65)) (then
        (i32.store8 (i32.const 0) (i32.const 1))
        (i64.store (i32.const 8) (i64.const 0x800000040))))
      (if (i32.eq (local.get $letter) (i32.const 0x6d)) (then
        (loop $grow (br_if $grow (i32.ne (memory.grow (i32.const 16)) (i32.const -1))) unreachable)))
      ;; A second sample would find this changed.
      (if (i32.load8_u (i32.const 100)) (then unreachable))
      (i32.store8 (i32.const 100) (i32.const 1))
      (i32.const 0)))
  (core instance $code (instantiate $code))
  (type $sample (record (field "prompt" string) (field "completion" string)
    (field "reference" (option string)) (field "meta" string) (field "settings" string)))
  (type $score (record (field "reward" f64) (field "evidence" string)))
  (type $verdict (variant (case "scored" $score) (case "abstained" string)))
  (func $verify (param "sample" $sample) (result (result $verdict (error string)))
    (canon lift (core func $code "verify") (memory (core memory $code "memory")) (realloc (core func $code "realloc"))))
  (instance $verifier (export "sample" (type $sample)) (export "score" (type $score))
    (export "verdict" (type $verdict)) (export "verify" (func $verify)))
  (export "assay:plugin/verifier@0.1.0" (instance $verifier)))
