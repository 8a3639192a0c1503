import { spawn } from "node:child_process";

/** What is passed on to the program. */
const SIGNALS = ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const;

/** What a terminal sends to everybody in the foreground, so that the program has it already. */
const TYPED: readonly string[] = ["SIGINT", "SIGQUIT"];

/** Runs a program in place of this process, or as if it were so. */
export function run(program: string, args: readonly string[]): void {
  // What it tells people to type next is what they typed.
  const argv0 = process.argv[1] ?? program;
  const env =
    process.env.npm_command === "exec" ? { ...process.env, TOMBOLO_RUN_AS: "npx @tombolo/cli" } : process.env;
  // Node 20 cannot: it stays, and stands in for the program.
  if (process.execve === undefined) standIn(program, { argv0, args, env });
  else process.execve(program, [argv0, ...args], env);
}

interface Start {
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function standIn(program: string, { argv0, args, env }: Start): void {
  const child = spawn(program, args, { argv0, env, stdio: "inherit" });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && TYPED.includes(signal))) child.kill(signal);
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
