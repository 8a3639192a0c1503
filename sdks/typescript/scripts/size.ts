/**
 * Fails if a package is larger than it may be, as a browser would load it: bundled, minified and compressed. Its core
 * is what is loaded at first; the whole of it is also what is loaded once it is needed.
 */
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

interface Weight {
  readonly core: number;
  readonly whole: number;
}

/** What each package may weigh, in bytes. */
const LIMITS: Readonly<Record<string, Weight>> = {
  "@tombolo/acp-http-client": { core: 15_000, whole: 15_000 },
  "@tombolo/sandbox-agent": { core: 15_000, whole: 21_500 },
  "@tombolo/session": { core: 3_000, whole: 3_000 },
  "@tombolo/react": { core: 4_000, whole: 4_000 },
  "@tombolo/ai-sdk": { core: 6_000, whole: 6_000 },
};

for (const [name, limit] of Object.entries(LIMITS)) {
  const { core, whole } = await weigh(name);
  console.log(`${name}: core ${core} of ${limit.core} bytes, whole ${whole} of ${limit.whole}`);
  if (core > limit.core || whole > limit.whole) process.exitCode = 1;
}

async function weigh(name: string): Promise<Weight> {
  // A module of Node's cannot be bundled for a browser, so that this fails too.
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export * from ${JSON.stringify(name)};`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    // Whoever uses the hooks and the transport has these anyway.
    external: ["react", "ai"],
    format: "esm",
    metafile: true,
    minify: true,
    outdir: ".",
    platform: "browser",
    splitting: true,
    target: "es2022",
    write: false,
  });
  const core = atFirst(metafile);
  const weight = { core: 0, whole: 0 };
  for (const { path, contents } of outputFiles) {
    const bytes = gzipSync(contents, { level: 9 }).length;
    weight.whole += bytes;
    if (core.has(basename(path))) weight.core += bytes;
  }
  return weight;
}

/** The files that are loaded at first: the one that is asked for, and what that cannot do without. */
function atFirst({ outputs }: Metafile): ReadonlySet<string> {
  const files = new Set(["stdin.js"]);
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import" && !external) files.add(path);
    }
  }
  return files;
}
