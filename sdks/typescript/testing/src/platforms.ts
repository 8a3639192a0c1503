import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Context, createContext, Script } from "node:vm";
import { systemNode } from "./node.js";

/** The directory of the programs of npm packages. */
const PROGRAMS = join(import.meta.dirname, "../../node_modules/.bin");

const run = promisify(execFile);

/** A JavaScript runtime outside of the browser. */
export interface JavaScriptRuntime {
  readonly name: "node" | "bun" | "deno";
  /** Runs a script to its end and returns its output. Fails if the script keeps the process alive. */
  run(script: string, ...args: readonly string[]): Promise<string>;
}

/** The Node of the system, the Node of the workspace, Bun and Deno. */
export async function javaScriptRuntimes(): Promise<readonly JavaScriptRuntime[]> {
  const denoOptions = ["--allow-net", "--allow-read", "--allow-env"];
  return [
    runtime("node", await systemNode()),
    runtime("node", process.execPath),
    runtime("bun", join(PROGRAMS, "bun"), "run"),
    runtime("deno", join(PROGRAMS, "deno"), "run", ...denoOptions),
  ];
}

function runtime(
  name: JavaScriptRuntime["name"],
  program: string,
  ...options: readonly string[]
): JavaScriptRuntime {
  return {
    name,
    run: async (script, ...args) =>
      (await run(program, [...options, script, ...args], { timeout: 30_000 })).stdout,
  };
}

/**
 * Bundles a package for a browser, which fails if it imports a module of Node. Loads the bundle as the global `library` of a
 * context that has only these globals.
 */
export async function loadBundle(
  packageName: string,
  resolveDir: string,
  globals: Readonly<Record<string, unknown>>,
): Promise<Context> {
  // Loaded on demand: esbuild does not work with the globals that React tests define.
  const { build } = await import("esbuild");
  const bundle = await build({
    stdin: { contents: `export * from ${JSON.stringify(packageName)};`, resolveDir },
    bundle: true,
    format: "iife",
    globalName: "library",
    platform: "browser",
    write: false,
  });
  const context = createContext({ ...globals });
  new Script(bundle.outputFiles[0]?.text ?? "").runInContext(context);
  return context;
}
