/**
 * Fails if a package is larger than it may be, as a browser would load it: bundled, minified and compressed.
 */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What each package may weigh, in bytes. */
const LIMITS: Readonly<Record<string, number>> = {
  "acp-http-client": 15 << 10,
  "sandbox-agent": 20 << 10,
  "@tombolo/session": 3 << 10,
  "@tombolo/react": 4 << 10,
  "@tombolo/ai-sdk": 6 << 10,
};

for (const [name, limit] of Object.entries(LIMITS)) {
  // A module of Node's cannot be bundled for a browser, so that this fails too.
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from ${JSON.stringify(name)};`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    // Whoever uses the hooks and the transport has these anyway.
    external: ["react", "ai"],
    format: "esm",
    minify: true,
    platform: "browser",
    target: "es2022",
    write: false,
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length;
  console.log(`${name}: ${bytes} of ${limit} bytes`);
  if (bytes > limit) process.exitCode = 1;
}
