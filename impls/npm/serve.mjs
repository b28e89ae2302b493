// A package of npm as a program of the stdio protocol: `node serve.mjs FOLDER ABOUT`.
//
// FOLDER has node_modules; ABOUT is what `hello` answers, as JSON. Each mode of a vocabulary comes
// with the lines that load its file ("code", of an async function of `require`, `load` and
// VOCABULARY) and give {encode, decode}: text to ids, and ids to text or bytes.

import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, about] = process.argv.slice(2);
const require = createRequire(path.join(folder, "main.js"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const AsyncFunction = (async () => {}).constructor;
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
console.log = console.info = console.error; // standard output has the responses alone

let ways = {};
const running = {};

async function started(mode) {
  if (!(mode in running)) {
    const { code, path: file } = ways[mode];
    running[mode] = await new AsyncFunction("require", "load", "VOCABULARY", code)(require, load, file);
  }
  return running[mode];
}

function encode(tokenizer, input) {
  let text;
  try {
    text = strict.decode(Buffer.from(input, "base64"));
  } catch {
    return { unsupported: "takes text only, and this is not UTF-8" };
  }
  return { ids: Array.from(tokenizer.encode(text)) };
}

function decode(tokenizer, ids) {
  return { bytes: Buffer.from(tokenizer.decode(ids)).toString("base64") };
}

function one(answer, tokenizer, input) {
  const start = process.hrtime.bigint();
  try {
    const result = answer(tokenizer, input);
    return { ns: Number(process.hrtime.bigint() - start), ...result };
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error; // its memory cannot be trusted now
    return { error: `${error?.name}: ${error?.message}`.slice(0, 2000) };
  }
}

async function respond(request) {
  if (request.op === "hello") return JSON.parse(about);
  if (request.op === "load") {
    ways = request.vocabulary.ways ?? {};
    const [first] = Object.keys(ways);
    if (!first) return { unsupported: "takes vocabularies from tokgate only" };
    try {
      await started(first);
    } catch (error) {
      return { unsupported: `does not load it: ${error?.message}`.slice(0, 300) };
    }
    try {
      // What a release lacks shows here, once, and in no finding.
      running[first].decode(Array.from(running[first].encode("a")));
    } catch (error) {
      const line = `${error?.name}: ${error?.message}`.split("\n")[0].slice(0, 300);
      return { error: `this release does not do what its adapter asks of it (${line})` };
    }
    return { ok: true };
  }
  const answer = { encode, decode }[request.op];
  if (!answer) return { unsupported: `no op ${request.op}` };
  const special = request.special === "all" || (request.op === "decode" && "special" in ways);
  const mode = special ? "special" : "text";
  if (!(mode in ways)) return { unsupported: "does not do this" };
  const tokenizer = await started(mode);
  return { results: request.inputs.map((input) => one(answer, tokenizer, input)) };
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const request = JSON.parse(line);
  if (request.op === "stop") break;
  const bytes = Buffer.from(JSON.stringify({ seq: request.seq, ...(await respond(request)) }) + "\n");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
