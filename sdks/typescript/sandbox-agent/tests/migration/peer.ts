import { execFile } from "node:child_process";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Daemon, programFrom } from "tombolo-testing";

/** The package of another project that has the name that ours had, and an API that is close to ours. */
const PACKAGE = "sandbox-agent";
const VERSION = "0.4.2";

/** What the tests use of the package. It brings types of its own, which the build of our packages must not depend on. */
export interface PeerModule {
  readonly SandboxAgent: {
    readonly prototype: object;
    connect(options: object): Promise<Peer>;
    start(options: object): Promise<Peer>;
  };
  local(options: object): object;
}

// biome-ignore lint/suspicious/noExplicitAny: the calls are those of another package, and some fail on purpose.
type Peer = any;

/** Installs the package into the cache of the tests, and loads it. */
export async function installPeer(): Promise<PeerModule> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "tombolo");
  const directory = join(cache, `${PACKAGE}-${VERSION}`);
  const dist = join(directory, "node_modules", PACKAGE, "dist");
  const isInstalled = await access(dist).then(
    () => true,
    () => false,
  );
  if (!isInstalled) {
    // A rename, so that an interrupted installation is not taken for a complete one.
    const partial = `${directory}.${process.pid}`;
    await mkdir(partial, { recursive: true });
    const options = ["--prefix", partial, "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"];
    await promisify(execFile)("npm", ["install", ...options, `${PACKAGE}@${VERSION}`]);
    await rename(partial, directory).catch(() => rm(partial, { recursive: true }));
  }
  const [main, provider] = await Promise.all(
    ["index.js", "providers/local.js"].map((file) => import(pathToFileURL(join(dist, file)).href)),
  );
  return { SandboxAgent: main.SandboxAgent, local: provider.local };
}

/** Makes every call of the package against a daemon, and says what came of each, as the guide says it. */
export async function callsOfPeer(
  { SandboxAgent, local }: PeerModule,
  daemon: Daemon,
): Promise<ReadonlyMap<string, string>> {
  const results = new Map<string, string>();
  /** Makes a call, and checks that the answer has the members that the package documents. */
  const call = async (name: string, make: () => unknown, members: readonly string[] = []): Promise<Peer> => {
    try {
      const answer = (await make()) as Peer;
      const missing = members.filter((member) => answer?.[member] === undefined);
      const without = missing.map((member) => `\`${member}\``).join(", ");
      results.set(name, missing.length === 0 ? "works" : `answers without ${without}`);
      return answer;
    } catch (failure) {
      results.set(name, describeFailure(failure));
      return undefined;
    }
  };

  const agent = await call("connect", () => SandboxAgent.connect({ baseUrl: daemon.url }));
  const path = (name: string) => ({ path: join(daemon.home, name) });
  await call("getHealth", () => agent.getHealth(), ["status"]);
  await call("listAgents", () => agent.listAgents(), ["agents"]);
  await call("getAgent", () => agent.getAgent("mock"), ["id"]);
  await call("installAgent", () => agent.installAgent("mock"), ["already_installed", "artifacts"]);

  const session = await call("createSession", () => agent.createSession({ agent: "mock" }), ["id"]);
  await call("listAcpServers", () => agent.listAcpServers(), ["servers"]);
  await call("listSessions", () => agent.listSessions(), ["items"]);
  await call("getSession", () => agent.getSession(session.id), ["id"]);
  const stop = await call("onSessionEvent", () => agent.onSessionEvent(session.id, () => {}));
  const asked = nextCall<Peer>();
  await call("onPermissionRequest", () => agent.onPermissionRequest(session.id, asked.listener));
  const prompt = (text: string) => session.prompt([{ type: "text", text }]);
  let turn = prompt("/permission");
  await call("respondPermission", async () => agent.respondPermission((await asked.argument).id, "once"));
  await turn;
  stop?.();
  const again = nextCall<Peer>();
  agent.onPermissionRequest(session.id, again.listener);
  turn = prompt("/permission");
  await call("rawRespondPermission", async () => {
    const { id, options } = await again.argument;
    await agent.rawRespondPermission(id, { outcome: { outcome: "selected", optionId: options[0].optionId } });
    await turn;
  });
  await call("getEvents", () => agent.getEvents({ sessionId: session.id }), ["items"]);
  const echo = { prompt: [{ type: "text", text: "hello" }] };
  await call("rawSendSessionMethod", () => agent.rawSendSessionMethod(session.id, "session/prompt", echo), [
    "response",
  ]);
  await call("getSessionModes", () => agent.getSessionModes(session.id), ["availableModes"]);
  await call("setSessionMode", () => agent.setSessionMode(session.id, "plan"), ["session"]);
  await call("getSessionConfigOptions", () => agent.getSessionConfigOptions(session.id), ["length"]);
  await call("setSessionConfigOption", () => agent.setSessionConfigOption(session.id, "model", "mock"));
  await call("setSessionModel", () => agent.setSessionModel(session.id, "mock"));
  await call("setSessionThoughtLevel", () => agent.setSessionThoughtLevel(session.id, "high"));
  await call("resumeSession", () => agent.resumeSession(session.id), ["id"]);
  const known = { id: session.id, agent: "mock" };
  await call("resumeOrCreateSession", () => agent.resumeOrCreateSession(known), ["id"]);
  await call("destroySession", () => agent.destroySession(session.id), ["id"]);

  await call("mkdirFs", () => agent.mkdirFs(path("made")), ["path"]);
  await call("writeFsFile", () => agent.writeFsFile(path("made/file"), "text"), ["path", "bytesWritten"]);
  await call("readFsFile", () => agent.readFsFile(path("made/file")), ["byteLength"]);
  await call("listFsEntries", () => agent.listFsEntries(path("made")), ["length"]);
  await call("statFs", () => agent.statFs(path("made/file")), ["path", "size", "entryType"]);
  const move = { from: path("made/file").path, to: path("made/moved").path };
  await call("moveFs", () => agent.moveFs(move), ["from", "to"]);
  await call("uploadFsBatch", () => agent.uploadFsBatch(EMPTY_TAR, path("made")), ["paths"]);
  await call("deleteFsEntry", () => agent.deleteFsEntry({ ...path("made"), recursive: true }), ["path"]);

  const mcp = { directory: daemon.home, mcpName: "server" };
  await call("setMcpConfig", () => agent.setMcpConfig(mcp, { type: "local", command: "true" }));
  await call("getMcpConfig", () => agent.getMcpConfig(mcp), ["type", "command"]);
  await call("deleteMcpConfig", () => agent.deleteMcpConfig(mcp));
  const skills = { directory: daemon.home, skillName: "skill" };
  const sources = [{ type: "github", source: "owner/repository" }];
  await call("setSkillsConfig", () => agent.setSkillsConfig(skills, { sources }));
  await call("getSkillsConfig", () => agent.getSkillsConfig(skills), ["sources"]);
  await call("deleteSkillsConfig", () => agent.deleteSkillsConfig(skills));

  await call("getProcessConfig", () => agent.getProcessConfig(), ["maxConcurrentProcesses"]);
  await call("setProcessConfig", () => agent.setProcessConfig({ maxConcurrentProcesses: 1 }));
  const run = { command: "sh", args: ["-c", "echo out; echo err >&2; exit 3"], timeoutMs: 10_000 };
  await call("runProcess", () => agent.runProcess(run), [
    ...["exitCode", "stdout", "stderr", "stdoutTruncated", "stderrTruncated", "timedOut", "durationMs"],
  ]);
  const sleep = { command: "sleep", args: ["1000"] };
  const members = ["id", "command", "args", "cwd", "pid", "status", "createdAtMs"];
  const sleeper = await call("createProcess", () => agent.createProcess(sleep), members);
  await call("listProcesses", () => agent.listProcesses(), ["processes"]);
  await call("getProcess", () => agent.getProcess(sleeper.id), members);
  await call("getProcessLogs", () => agent.getProcessLogs(sleeper.id), ["entries"]);
  const printer = await agent.createProcess({ command: "echo", args: ["text"] });
  const followed: Peer[] = [];
  const follow = async () => {
    const reading = await agent.followProcessLogs(printer.id, (entry: Peer) => followed.push(entry));
    await reading.closed;
    return followed[0];
  };
  await call("followProcessLogs", follow, ["data", "stream"]);
  const input = { data: "aGVsbG8=", encoding: "base64" };
  await call("sendProcessInput", () => agent.sendProcessInput(sleeper.id, input), ["bytesWritten"]);
  await call("resizeProcessTerminal", () => agent.resizeProcessTerminal(sleeper.id, { cols: 80, rows: 24 }));
  await call("buildProcessTerminalWebSocketUrl", () => agent.buildProcessTerminalWebSocketUrl(sleeper.id));
  await call("connectProcessTerminalWebSocket", () =>
    opened(agent.connectProcessTerminalWebSocket(sleeper.id)),
  );
  await call("connectProcessTerminal", () => opened(agent.connectProcessTerminal(sleeper.id).socket));
  await call("stopProcess", () => agent.stopProcess(sleeper.id, { waitMs: 5000 }), members);
  await call("killProcess", () => agent.killProcess(sleeper.id, { waitMs: 5000 }), members);
  await call("deleteProcess", () => agent.deleteProcess(sleeper.id));
  await call("dispose", () => agent.dispose());

  const env = { HOME: daemon.home };
  const sandbox = () => local({ binaryPath: programFrom("TOMBOLO_BIN"), log: "silent", env });
  const started = await call("start", () => SandboxAgent.start({ sandbox: sandbox() }));
  await call("destroySandbox", () => started.destroySandbox());
  for (const name of ["pauseSandbox", "killSandbox"]) {
    const other = await SandboxAgent.start({ sandbox: sandbox() });
    await call(name, () => other[name]());
    await other.destroySandbox().catch(() => {});
  }
  return results;
}

/** Two blocks of zeros: a tar archive without entries. */
const EMPTY_TAR = new Uint8Array(1024);

/** Waits until a WebSocket is open. */
function opened(socket: WebSocket): Promise<void> {
  const open = new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("the WebSocket was refused")));
  });
  return open.finally(() => socket.close());
}

/** A listener, and the argument of its first call. */
function nextCall<T>(): { readonly listener: (argument: T) => void; readonly argument: Promise<T> } {
  let listener: (argument: T) => void = () => {};
  const argument = new Promise<T>((resolve) => {
    listener = resolve;
  });
  return { listener, argument };
}

/** A failure in a few words: the status of the response, or that there was none. */
function describeFailure(failure: unknown): string {
  const status = (failure as { readonly status?: unknown }).status;
  return typeof status === "number" ? `fails: ${status}` : "fails";
}
