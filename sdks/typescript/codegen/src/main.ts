/**
 * Writes the types that are made from the documents in `docs`; with `--check` it only says whether they are
 * out of date.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Document, merged, protocolOf } from "./document.ts";
import { typesOf } from "./types.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const GENERATED = "sdks/typescript/sandbox-agent/src/generated";

async function read(file: string): Promise<Document> {
  return JSON.parse(await readFile(join(ROOT, "docs", file), "utf8")) as Document;
}

/** Whether the file says so already, or does now. */
async function put(file: string, text: string, check: boolean): Promise<boolean> {
  const path = join(ROOT, file);
  const found = await readFile(path, "utf8").catch(() => undefined);
  if (found === text) return true;
  if (check) {
    console.error(`${file} is out of date: run \`cargo xtask codegen\` and commit it`);
    return false;
  }
  await writeFile(path, text);
  console.log(`wrote ${file}`);
  return true;
}

const check = process.argv.includes("--check");
const api = await typesOf(merged(await read("openapi.json"), await read("openapi-hub.json")));
const relay = await typesOf(protocolOf(await read("relay.schema.json")));
const done = [await put(`${GENERATED}/api.ts`, api, check), await put(`${GENERATED}/relay.ts`, relay, check)];
if (done.includes(false)) process.exitCode = 1;
