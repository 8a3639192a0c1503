/** Generates TypeScript types from the documents in `docs`. With `--check`, only fails if the committed ones differ. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { generateAliases, takenNames } from "./aliases.ts";
import { type Document, mergeDocuments, relayDocument } from "./document.ts";
import { schemasUsedBy, withSchemas } from "./schemas.ts";
import { generateTypes } from "./types.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const PACKAGES = "sdks/typescript";

const readText = (file: string): Promise<string> => readFile(join(ROOT, file), "utf8");

async function readDocument(file: string): Promise<Document> {
  return JSON.parse(await readText(join("docs", file))) as Document;
}

/** The hand-written modules of a package. */
async function readModules(directory: string): Promise<readonly string[]> {
  const files = await readdir(join(ROOT, directory), { recursive: true });
  const modules = files.filter((file) => file.endsWith(".ts") && !file.startsWith("generated"));
  return Promise.all(modules.map((file) => readText(join(directory, file))));
}

/** Writes a file unless it has this content already. With `--check`, returns false instead. */
async function update(file: string, content: string, check: boolean): Promise<boolean> {
  const current = await readText(file).catch(() => undefined);
  if (current === content) return true;
  if (check) {
    console.error(`${file} is out of date: run \`cargo xtask codegen\` and commit it`);
    return false;
  }
  await writeFile(join(ROOT, file), content);
  console.log(`wrote ${file}`);
  return true;
}

const check = process.argv.includes("--check");
const api = mergeDocuments(await readDocument("openapi.json"), await readDocument("openapi-hub.json"));
const relay = relayDocument(await readDocument("relay.schema.json"));
// `@tombolo/session` has no dependencies, so it gets its own copy of the few types that it uses.
const session = withSchemas(api, schemasUsedBy(await readText(`${PACKAGES}/session/src/types.ts`)));
const aliases = generateAliases(api, takenNames(await readModules(`${PACKAGES}/sandbox-agent/src`)));

const upToDate = [
  await update(`${PACKAGES}/sandbox-agent/src/generated/api.ts`, await generateTypes(api), check),
  await update(`${PACKAGES}/sandbox-agent/src/generated/aliases.ts`, aliases, check),
  await update(`${PACKAGES}/sandbox-agent/src/generated/relay.ts`, await generateTypes(relay), check),
  await update(`${PACKAGES}/session/src/generated/api.ts`, await generateTypes(session), check),
];
if (upToDate.includes(false)) process.exitCode = 1;
