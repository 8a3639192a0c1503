import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { systemNode } from "./node.js";

/** A Node that runs the snippets of our documents. */
export interface SnippetRuntime {
  /** `Node v20.20.2`. */
  readonly name: string;
  /** The major version. */
  readonly major: number;
  /** Runs a snippet in TypeScript to its end. Fails if it throws, or keeps the process alive. */
  run(code: string, options: SnippetOptions): Promise<string>;
}

/** Where and how to run a snippet. */
export interface SnippetOptions {
  /** The directory from which its packages are found. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** How long a snippet may run. */
const TIMEOUT_MS = 30_000;

/** The Node of the system, which may be as old as the oldest that we support, and the Node of the workspace. */
export async function snippetRuntimes(): Promise<readonly SnippetRuntime[]> {
  const programs = [await systemNode(), process.execPath];
  return Promise.all(programs.map(async (program) => runtime(program, await versionOf(program))));
}

function runtime(program: string, version: string): SnippetRuntime {
  const major = Number(/^v(\d+)/.exec(version)?.[1]);
  // Our documents say that Node 20 needs this flag.
  const flags = major < 22 ? ["--experimental-websocket"] : [];
  return {
    name: `Node ${version}`,
    major,
    run: async (code, { cwd, env }) => {
      const args = [...flags, "--input-type=module", "--eval", await withoutTypes(code)];
      const options = { cwd, env: { ...process.env, ...env }, timeout: TIMEOUT_MS };
      return (await promisify(execFile)(program, args, options)).stdout;
    },
  };
}

async function versionOf(program: string): Promise<string> {
  return (await promisify(execFile)(program, ["--version"])).stdout.trim();
}

/** JavaScript that Node 20, which knows no types, can run. */
async function withoutTypes(code: string): Promise<string> {
  // Loaded on demand: esbuild does not work with the globals that React tests define.
  const { transform } = await import("esbuild");
  return (await transform(code, { loader: "ts", format: "esm", target: "node20" })).code;
}
