// Run the vectors of a vocabulary: node reader.mjs VECTORS.json. Put your tokenizer in here.
import { readFileSync } from "node:fs";

// The ids of a Buffer; throws where it refuses it. (Here: a token is a byte.)
const encode = (data, mode) => [...data];

// The Buffer of ids; throws where there is no such id.
const decode = (ids) => {
  if (ids.some((id) => id > 255)) throw new Error("no such id");
  return Buffer.from(ids);
};

const attempt = (action) => {
  try {
    return JSON.stringify([...action()]);
  } catch {
    return "refused";
  }
};

const { vectors } = JSON.parse(readFileSync(process.argv[2], "utf8"));
let failed = 0;
vectors.forEach(({ input, ids, mode, flags, why }, number) => {
  const data = Buffer.from(input, "hex");
  const has = (...names) => names.some((name) => flags.includes(name));
  const expected = (values, refused) => (has(refused) ? "refused" : JSON.stringify([...values]));
  const encodes = attempt(() => encode(data, mode)) === expected(ids, "rejected");
  const decodes = attempt(() => decode(ids)) === expected(data, "bad-ids");
  if ((encodes || has("decode-only", "bad-ids")) && (decodes || has("rejected", "encode-only"))) return;
  failed += 1;
  console.log(`FAIL ${number} ${mode}: ${why}`);
});
console.log(`${vectors.length - failed} of ${vectors.length} passed`);
process.exit(failed > 0 ? 1 : 0);
