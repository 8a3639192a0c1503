import { access } from "node:fs/promises";
import { join } from "node:path";

/** The `node` of the system. npm scripts find the one in `node_modules` first. */
export async function systemNode(): Promise<string> {
  for (const directory of (process.env.PATH ?? "").split(":")) {
    const program = join(directory, "node");
    const found = await access(program).then(
      () => true,
      () => false,
    );
    if (found && !directory.includes("node_modules")) return program;
  }
  throw new Error("found no `node` except the one in node_modules");
}
