import { access } from "node:fs/promises";
import { join } from "node:path";

/** The `node` of the system, which scripts of npm do not get to see. */
export async function systemNode(): Promise<string> {
  for (const directory of (process.env.PATH ?? "").split(":")) {
    const program = join(directory, "node");
    const found = await access(program).then(
      () => true,
      () => false,
    );
    if (found && !directory.includes("node_modules")) return program;
  }
  throw new Error("there is no `node` but that of the workspace");
}
