import { spawn } from "node:child_process";

/** Signals that the launcher forwards to the program. */
const FORWARDED_SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

/** Signals that a terminal sends to the whole foreground group, so that the program receives them directly. */
const TERMINAL_SIGNALS: readonly string[] = ["SIGINT", "SIGQUIT"];

/** Replaces this process by a program, or behaves as if it did. */
export function run(program: string, args: readonly string[]): void {
  // The program prints commands to try next; they must start with what the user typed.
  const argv0 = process.argv[1] ?? program;
  const env =
    process.env.npm_command === "exec" ? { ...process.env, TOMBOLO_RUN_AS: "npx @tombolo/cli" } : process.env;
  // Older versions of Node cannot replace their process.
  if (process.execve === undefined) runAsChild(program, { argv0, args, env });
  else process.execve(program, [argv0, ...args], env);
}

interface Invocation {
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function runAsChild(program: string, { argv0, args, env }: Invocation): void {
  const child = spawn(program, args, { argv0, env, stdio: "inherit" });
  for (const signal of FORWARDED_SIGNALS) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && TERMINAL_SIGNALS.includes(signal))) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    throw error;
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
