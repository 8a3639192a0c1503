import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const requireHere = createRequire(import.meta.url);

/** The program does not exist for this platform, or its package is not installed. */
export class MissingProgramError extends Error {
  override readonly name = "MissingProgramError";
}

/** The path of the `tombolo` program. Each platform has its own package, so that npm installs only one of them. */
export function programPath(): string {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return requireHere.resolve(`@tombolo/cli-${platform}/bin/tombolo`);
  } catch (cause) {
    throw new MissingProgramError(missingReason(platform), { cause });
  }
}

function missingReason(platform: string): string {
  const supported = Object.keys(JSON.parse(readFileSync(requireHere.resolve("../platforms.json"), "utf8")));
  if (!supported.includes(platform))
    return `tombolo does not support ${platform}, only ${supported.join(" and ")}`;
  return (
    `@tombolo/cli-${platform} is not installed: install without \`--omit=optional\`, with a lock file that includes ` +
    "this platform, and on a system whose C library is glibc"
  );
}
