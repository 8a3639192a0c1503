import { execFile } from "node:child_process";
import { access, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** The package to compare with. Its server is large, so it is installed only for the benchmark. */
const PACKAGE = "sandbox-agent@0.4.2";

/** In `node_modules`, so that it disappears together with the installed packages. */
const DIRECTORY = join(import.meta.dirname, "../../node_modules/.cache", PACKAGE);

/** The path of a file of the package. Installs it first if necessary. */
export async function published(name: string): Promise<string> {
  const file = join(DIRECTORY, "node_modules", name);
  const missing = await access(file).then(
    () => false,
    () => true,
  );
  if (missing) await install();
  return file;
}

async function install(): Promise<void> {
  await mkdir(DIRECTORY, { recursive: true });
  await promisify(execFile)("npm", [
    "install",
    "--no-save",
    "--ignore-scripts",
    "--prefix",
    DIRECTORY,
    PACKAGE,
  ]);
}
