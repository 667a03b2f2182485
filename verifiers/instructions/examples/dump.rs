fn main(){
 use std::io::Write;
 let t=std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
 let mut o=std::io::BufWriter::new(std::io::stdout());
 for l in t.lines(){ let r:String=serde_json::from_str(l).unwrap();
  let v=serde_json::json!([assay_instructions::sentences(&r),assay_instructions::words(&r),assay_instructions::languages(&r)]);
  writeln!(o,"{v}").unwrap(); }
}
