/**
 * Fails if a package exceeds its size limit, as a browser would load it: bundled, minified and compressed. The core is
 * loaded with the page; the whole also includes the modules that are loaded on demand.
 */
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

interface BundleSize {
  readonly core: number;
  readonly whole: number;
}

/** Size limits in bytes. */
const LIMITS: Readonly<Record<string, BundleSize>> = {
  "@tombolo/acp-http-client": { core: 15_000, whole: 15_000 },
  "@tombolo/sandbox-agent": { core: 15_000, whole: 21_500 },
  "@tombolo/session": { core: 3_000, whole: 3_000 },
  "@tombolo/react": { core: 4_000, whole: 4_000 },
  "@tombolo/ai-sdk": { core: 6_000, whole: 6_000 },
};

for (const [name, limit] of Object.entries(LIMITS)) {
  const { core, whole } = await measure(name);
  console.log(`${name}: core ${core} of ${limit.core} bytes, whole ${whole} of ${limit.whole}`);
  if (core > limit.core || whole > limit.whole) process.exitCode = 1;
}

async function measure(name: string): Promise<BundleSize> {
  // This also fails if the package imports a module of Node, which cannot be bundled for a browser.
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export * from ${JSON.stringify(name)};`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    // Peer dependencies, which the page has anyway.
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
  const core = coreFiles(metafile);
  const size = { core: 0, whole: 0 };
  for (const { path, contents } of outputFiles) {
    const bytes = gzipSync(contents, { level: 9 }).length;
    size.whole += bytes;
    if (core.has(basename(path))) size.core += bytes;
  }
  return size;
}

/** The entry file and its static imports. */
function coreFiles({ outputs }: Metafile): ReadonlySet<string> {
  const files = new Set(["stdin.js"]);
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (kind !== "dynamic-import" && !external) files.add(path);
    }
  }
  return files;
}
