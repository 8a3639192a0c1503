// Lends a device to an environment of a hub and runs the MCP conformance suite against the environment's MCP endpoint:
// `run.mjs TOMBOLO CONFORMANCE DIRECTORY`. `cargo xtask mcp-conformance` runs it.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { TOOLS } from "./tools.mjs";

// What each revision of the protocol requires of a server, and scenarios beyond that.
const RUNS = [
  { revision: "2025-11-25", select: ["--requirements", "2025-11-25"] },
  { revision: "2026-07-28", select: ["--requirements", "2026-07-28"] },
  ...["json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"].map((scenario) => ({
    revision: "2026-07-28",
    select: ["--scenario", scenario, "--spec-version", "2026-07-28"],
  })),
];

const [tombolo, conformance, directory] = process.argv.slice(2);
const here = import.meta.dirname;
const children = [];

function start(args, env) {
  const child = spawn(tombolo, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  return child;
}

async function main() {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const hub = start(["hub", "--port", "0", "--log", "error", "--data-dir", join(directory, "hub")]);
  const lines = createInterface({ input: hub.stdout })[Symbol.asyncIterator]();
  const line = async (prefix) => (await lines.next()).value.slice(prefix.length);
  const url = await line("listening on ");
  const env = { ...process.env, TOMBOLO_HUB: url, TOMBOLO_HUB_TOKEN: await line("admin token, shown once: ") };
  const command = async (...args) => (await promisify(execFile)(tombolo, ["hub", ...args], { env })).stdout;

  // The environment needs a runtime's name; no daemon is asked for anything.
  await command("runtimes", "add", "box", "--at", "http://127.0.0.1:9");
  const token = await command("devices", "add", "laptop");
  await command("grants", "add", "laptop", "--runtime", "box", "--tools");
  await lendTools(url, token.trim());
  const added = await command("environments", "add", "--runtime", "box", "--device", "laptop", "--json");
  const { environment, secret } = JSON.parse(added);
  const door = `${url}/api/v1/relay/environments/${environment.id}`;
  await poll(async () => (await relayRequest(door, secret, "tool.list")).includes("test_simple_text"));
  const endpoint = await authorizingProxy(`${door}/mcp`, secret);

  const failed = [];
  for (const { revision, select } of RUNS) {
    const baseline = join(here, `expected-failures-${revision}.yaml`);
    const args = ["server", "--url", endpoint, ...select, "--expected-failures", baseline, "-o", "results"];
    const suite = spawn(process.execPath, [conformance, ...args], { cwd: directory, stdio: "inherit" });
    const [code] = await once(suite, "exit");
    if (code !== 0) failed.push(select.join(" "));
  }
  if (failed.length > 0) throw new Error(`not as expected: ${failed.join(" and ")}`);
}

/** Starts a device that lends the suite's tools. */
async function lendTools(hub, token) {
  const tools = join(directory, "tools.toml");
  const server = JSON.stringify([process.execPath, join(here, "server.mjs")]);
  const lent = Object.keys(TOOLS).map((name) => `{ name = "${name}", risk = "low" }`);
  await writeFile(tools, `[mcp.suite]\ncommand = ${server}\ntools = [${lent.join(", ")}]\n`);
  const args = ["device", "connect", hub, "--client-id", "laptop", "--tools", tools, "--log", "error"];
  start([...args, "--data-dir", join(directory, "device")], { TOMBOLO_DEVICE_TOKEN: token });
}

/** Sends a request to the device and returns the text of the response. */
async function relayRequest(door, secret, method) {
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const body = JSON.stringify({ method, params: {} });
  return (await fetch(`${door}/requests`, { method: "POST", headers, body })).text();
}

/** Waits until `isTrue` returns true. */
async function poll(isTrue) {
  const deadline = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error("the device does not lend its tools");
    await setTimeout(100);
  }
}

/** The suite cannot send a token: a proxy adds it. Everything else passes unchanged. */
async function authorizingProxy(target, secret) {
  const { host, pathname } = new URL(target);
  const proxy = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${secret}` };
    // The suite also forges names of hosts, which pass unchanged.
    const own = new RegExp(`(127\\.0\\.0\\.1|localhost):${proxy.address().port}$`);
    for (const name of ["host", "origin"]) headers[name] = headers[name]?.replace(own, host) ?? "";
    if (headers.origin === "") delete headers.origin;
    const forwarded = http.request(target, { method: request.method, path: pathname, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return `http://127.0.0.1:${proxy.address().port}/mcp`;
}

try {
  await main();
} finally {
  for (const child of children) child.kill("SIGKILL");
}
process.exit();
