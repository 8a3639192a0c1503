import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const here = createRequire(import.meta.url);

/** There is no `tombolo` for this machine, or it was not installed. */
export class MissingProgramError extends Error {
  override readonly name = "MissingProgramError";
}

/** Where the `tombolo` of this machine lies: in a package of its own, so that nobody gets those of others. */
export function programPath(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return here.resolve(`@tombolo/cli-${platform}/bin/tombolo`);
  } catch (cause) {
    throw new MissingProgramError(reason(platform), { cause });
  }
}

function reason(platform: string): string {
  const known = Object.keys(JSON.parse(readFileSync(here.resolve("../platforms.json"), "utf8")));
  if (!known.includes(platform))
    return `there is no tombolo for ${platform}, only for ${known.join(" and ")}`;
  return (
    `@tombolo/cli-${platform} is not installed: it is left out with \`--omit=optional\`, by a lock file that was made ` +
    "on another kind of machine, and where the C library is not glibc"
  );
}
