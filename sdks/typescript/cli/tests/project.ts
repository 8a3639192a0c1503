import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Registry, systemNode, until } from "tombolo-testing";

/** The output directory of `cargo xtask dist`. */
const dist = process.env.TOMBOLO_DIST ?? "";

/** A running server program. */
export interface ListeningProgram {
  readonly url: string;
  readonly child: ChildProcess;
  /** The lines of its output so far. */
  readonly lines: readonly string[];
}

/** A directory of a user who has only Node, and installs our packages from a registry. */
export class Project implements AsyncDisposable {
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #registry: Registry;
  readonly #children: ChildProcess[] = [];

  private constructor(directory: string, env: Readonly<Record<string, string>>, registry: Registry) {
    this.directory = directory;
    this.env = env;
    this.#registry = registry;
  }

  static async start(): Promise<Project> {
    if (dist === "") throw new Error("TOMBOLO_DIST must name the packages to test");
    const registry = await Registry.start(dist);
    const home = await mkdtemp(join(tmpdir(), "tombolo-cli-"));
    const directory = join(home, "project");
    await mkdir(directory);
    const env = {
      HOME: home,
      // Without the tools and the settings of the workspace.
      PATH: [dirname(await systemNode()), "/usr/bin", "/bin"].join(delimiter),
      npm_config_cache: join(home, "cache"),
      "npm_config_@tombolo:registry": registry.url,
      npm_config_update_notifier: "false",
    };
    return new Project(directory, env, registry);
  }

  /** The packed file of one of our packages. */
  static packedFile(name: string): string {
    return join(dist, `tombolo-${name}-0.1.0.tgz`);
  }

  /** Makes the packed files available as `./target/packages`, where the READMEs expect them. */
  async linkPackages(): Promise<void> {
    await mkdir(join(this.directory, "target"));
    await symlink(dist, join(this.directory, "target/packages"));
  }

  /** Runs a program to its end and returns its output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const options = { cwd: this.directory, env: this.env, timeout: 50_000 };
    const { stdout } = await promisify(execFile)(program, args, options);
    return stdout.trim();
  }

  /** Starts a program and waits until it prints its address. */
  async startServer(program: string, ...args: readonly string[]): Promise<ListeningProgram> {
    // In its own process group, like a program that is started from a terminal.
    const options = { cwd: this.directory, env: this.env, detached: true };
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    const url = () => lines.map((line) => /^listening on (\S+)$/.exec(line)?.[1]).find(Boolean);
    await until(() => url() !== undefined || child.exitCode !== null, "the address of the program");
    return { url: url() ?? "", child, lines };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of this.#children) signalGroup(pid, "SIGKILL");
    await this.#registry[Symbol.asyncDispose]();
    await rm(dirname(this.directory), { recursive: true, force: true });
  }
}

/** Sends a signal to the process group of a program, as a terminal does. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? Number.NaN), signal);
  } catch (error) {
    // All processes of the group have ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
