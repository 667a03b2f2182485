use assay_instructions::*;use serde_json::Value;use std::collections::BTreeMap;
fn main(){let t=std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();let rows:Vec<Value>=t.lines().map(|l|serde_json::from_str(l).unwrap()).collect();
let mut m:BTreeMap<String,(f64,u32)>=BTreeMap::new();let mut rd=0.0;let mut n=0;
for _ in 0..4{for row in &rows{let ids=row["reference"]["instruction_id_list"].as_array().unwrap();for (at,id) in ids.iter().enumerate(){let id=id.as_str().unwrap();
let s=std::time::Instant::now();
let Ok(d)=Demand::read(id,row["reference"]["kwargs"][at].as_object(),Edition::Official) else{continue};rd+=s.elapsed().as_secs_f64();n+=1;
let s=std::time::Instant::now();let x=follow(&[d],row["response"].as_str().unwrap());std::hint::black_box(x);let e=m.entry(id.to_owned()).or_default();e.0+=s.elapsed().as_secs_f64();e.1+=1;}}}
let tot:f64=m.values().map(|x|x.0).sum();
let mut v:Vec<_>=m.into_iter().collect();v.sort_by(|a,b|b.1.0.total_cmp(&a.1.0));
for (k,(s,c)) in v{println!("{:5.1}% {:8.2} us {c} {k}",100.0*s/tot,s/c as f64*1e6);}println!("read {} us; total per row {} us",rd/n as f64*1e6,tot/4.0/rows.len() as f64*1e6);}
