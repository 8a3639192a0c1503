import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Registry, systemNode, until } from "tombolo-testing";

/** Where the packages lie, as `cargo xtask dist` makes them. */
const dist = process.env.TOMBOLO_DIST ?? "";

/** A program that serves. */
export interface Listening {
  readonly url: string;
  readonly child: ChildProcess;
  /** The lines that it has said so far. */
  readonly said: readonly string[];
}

/** A directory of somebody who has nothing but Node, and gets our packages from a registry. */
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
      // Neither the tools of the workspace nor its settings.
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

  /** Runs a program to its end, and gives what it says. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const options = { cwd: this.directory, env: this.env, timeout: 50_000 };
    const { stdout } = await promisify(execFile)(program, args, options);
    return stdout.trim();
  }

  /** Starts a program, and waits until it says that it listens. */
  async listening(program: string, ...args: readonly string[]): Promise<Listening> {
    // In a group of its own, as a terminal has it.
    const options = { cwd: this.directory, env: this.env, detached: true };
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
    this.#children.push(child);
    const said: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line));
    const url = () => said.map((line) => /^listening on (\S+)$/.exec(line)?.[1]).find(Boolean);
    await until(() => url() !== undefined || child.exitCode !== null, "what the program says");
    return { url: url() ?? "", child, said };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { pid } of this.#children) signalGroup(pid, "SIGKILL");
    await this.#registry[Symbol.asyncDispose]();
    await rm(dirname(this.directory), { recursive: true, force: true });
  }
}

/** Signals a program and all that it runs through, as a terminal does. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? Number.NaN), signal);
  } catch (error) {
    // Nobody is left.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
