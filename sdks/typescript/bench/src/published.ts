import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** The packages that are compared with, and the server of theirs, which is too large for everybody to install. */
const PACKAGE = "sandbox-agent@0.4.2";

/** It lies among what is installed, so that it is gone when that is. */
const PLACE = join(import.meta.dirname, "../../node_modules/.cache", PACKAGE);

/** A file of a published package, which is installed if it is not. */
export async function published(name: string): Promise<string> {
  const file = join(PLACE, "node_modules", name);
  const missing = await access(file).then(
    () => false,
    () => true,
  );
  if (missing) await install();
  return file;
}

/** Installs from where npm is told to. */
async function install(): Promise<void> {
  await mkdir(PLACE, { recursive: true });
  await promisify(execFile)("npm", ["install", "--no-save", "--ignore-scripts", "--prefix", PLACE, PACKAGE]);
}
