// Run the vectors of a vocabulary: rustc --edition 2021 reader.rs && ./reader VECTORS.json. Put your tokenizer in here.
// It needs no crate: each vector is a line of ASCII, with its keys in this order.

/// The ids of bytes, None where it refuses them. (Here: a token is a byte.)
fn encode(data: &[u8], _mode: &str) -> Option<Vec<u32>> {
    Some(data.iter().map(|&byte| byte as u32).collect())
}

/// The bytes of ids, None where there is no such id.
fn decode(ids: &[u32]) -> Option<Vec<u8>> {
    ids.iter().map(|&id| u8::try_from(id).ok()).collect()
}

fn between<'a>(line: &'a str, start: &str, end: &str) -> &'a str {
    let rest = line.split_once(start).expect("a vector").1;
    rest.split_once(end).expect("a vector").0
}

fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).expect("a path")).expect("a file");
    let vectors: Vec<&str> = text.lines().filter(|line| line.starts_with("{\"input\"")).collect();
    let mut failed = 0;
    for (number, line) in vectors.iter().enumerate() {
        let hex = between(line, "\"input\": \"", "\"");
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        let data: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
        let list = between(line, "\"ids\": [", "]").split(", ").filter(|id| !id.is_empty());
        let ids: Vec<u32> = list.map(|id| id.parse().expect("an id")).collect();
        let (mode, flags) = (between(line, "\"mode\": \"", "\""), between(line, "\"flags\": [", "]"));
        let has = |name: &str| flags.contains(name);
        let encodes = encode(&data, mode) == if has("rejected") { None } else { Some(ids.clone()) };
        let decodes = decode(&ids) == if has("bad-ids") { None } else { Some(data) };
        let good = (encodes || has("decode-only") || has("bad-ids"))
            && (decodes || has("rejected") || has("encode-only"));
        if !good {
            failed += 1;
            println!("FAIL {number} {mode}: {}", line.split_once("\"why\": ").expect("a vector").1);
        }
    }
    println!("{} of {} passed", vectors.len() - failed, vectors.len());
    std::process::exit((failed > 0) as i32);
}
