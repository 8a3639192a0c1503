import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { HubClient, ProblemError, RelayRequestError } from "@tombolo/sandbox-agent";
import { Device, Hub, until } from "tombolo-testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Reading } from "./talking.js";

let hub: Hub;
let device: Device;
let client: HubClient;
const root = { root_id: "main", virtual_path: "/workspace/main", mode: "rw" } as const;
const capabilities = [{ capability: "fileops", enabled: true, roots: [root] }] as const;

beforeAll(async () => {
  hub = await Hub.start();
  client = new HubClient({ baseUrl: hub.url, token: hub.token });
  await client.runtimes.add({ id: "box", endpoint: "http://127.0.0.1:9" });
  const { secret } = await client.relay.devices.add({ clientId: "laptop" });
  await client.relay.grants.add({ clientId: "laptop", runtimeId: "box", capabilities });
  device = await Device.connect(hub, {
    clientId: "laptop",
    token: secret,
    files: { "a.txt": "from the device" },
  });
  await until(async () => (await client.relay.devices.get("laptop")).connection !== null, "the device");
});
afterAll(async () => {
  await device?.[Symbol.asyncDispose]();
  await hub?.[Symbol.asyncDispose]();
});

test("an environment can use what a grant allows", async () => {
  const { environment, secret } = await client.relay.environments.add({
    clientId: "laptop",
    runtimeId: "box",
  });
  const key = { environmentId: environment.id, secret };
  const read = await client.relay.environments.request(key, "file.read", { root_id: "main", path: "a.txt" });
  expect(read).toMatchObject({ content: "from the device" });
  expect((await client.relay.environments.list()).map(({ id }) => id)).toContain(environment.id);
  expect(await client.relay.environments.get(environment.id)).toMatchObject({ clientId: "laptop" });
  const missing = await client.relay.environments
    .request(key, "file.read", { root_id: "main", path: "none" })
    .catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(ProblemError);
  expect((missing as ProblemError).problem.relay).toMatchObject({ code: "not_found" });
  await client.relay.environments.remove(environment.id);
  await expect(client.relay.environments.get(environment.id)).rejects.toMatchObject({ status: 404 });
  const late = client.relay.environments.request(key, "file.read", { root_id: "main", path: "a.txt" });
  await expect(late).rejects.toMatchObject({ status: 401 });
  const { items } = await client.relay.audit();
  expect(items.map(({ method }) => method)).toContain("file.read");
});

test("a request that needs approval is a wait, and a remembered approval can be revoked", async () => {
  const { environment, secret } = await client.relay.environments.add({
    clientId: "laptop",
    runtimeId: "box",
    approvals: { "file.write": "ask_once" },
  });
  const key = { environmentId: environment.id, secret };
  const write = (path: string) =>
    client.relay.environments.request(key, "file.write", { root_id: "main", path, content: "approved" });
  const stop = new AbortController();
  const inbox = new Reading(client.waits.events({ signal: stop.signal }));
  // A wait that was opened before the stream started is part of the snapshot.
  await inbox.until(({ type }) => type === "snapshot");
  const writing = write("b.txt");
  const opened = await inbox.until(({ type }) => type === "opened");
  if (opened.type !== "opened") throw new Error("nobody is asked");
  await client.waits.answer(opened.wait.runtimeId, opened.wait.id, { permission: "always" });
  await writing;
  expect(await readFile(join(device.root, "b.txt"), "utf8")).toBe("approved");
  await write("c.txt");
  const { rememberedApprovals, devices } = await client.relay.status();
  expect(rememberedApprovals).toMatchObject([{ operation: "file.write", clientId: "laptop" }]);
  expect(devices.map(({ clientId }) => clientId)).toEqual(["laptop"]);
  await client.relay.forgetApproval(rememberedApprovals[0]?.id ?? "");
  expect((await client.relay.status()).rememberedApprovals).toEqual([]);
  const refused = write("d.txt").catch((error: unknown) => error);
  await until(() => inbox.items.filter(({ type }) => type === "opened").length === 2);
  const second = inbox.items.findLast(({ type }) => type === "opened");
  if (second?.type !== "opened") throw new Error("nobody is asked");
  await client.waits.answer(second.wait.runtimeId, second.wait.id, { permission: "reject" });
  expect(((await refused) as ProblemError).problem.relay).toMatchObject({ code: "policy_blocked" });
  stop.abort();
});

test("a streamed request yields frames and then the result", async () => {
  const { environment, secret } = await client.relay.environments.add({
    clientId: "laptop",
    runtimeId: "box",
  });
  const key = { environmentId: environment.id, secret };
  const { environments } = client.relay;
  const search = { root_id: "main", path: "", pattern: "device" };
  const reading = new Reading(environments.stream(key, "file.search", search));
  await reading.done;
  expect(reading.items.map(({ type }) => type)).toEqual(["stream", "response"]);
  expect(JSON.stringify(reading.items[0])).toContain("a.txt");
  const none = new Reading(environments.stream(key, "file.read", { root_id: "main", path: "none" }));
  const failure = await none.done.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RelayRequestError);
  expect((failure as RelayRequestError).relay).toMatchObject({ code: "not_found" });
  const watch = environments.stream(key, "file.watch", { root_id: "main", path: "" });
  const changes = new Reading(watch);
  await until(async () =>
    (await client.relay.status()).environments.some(({ pendingRequests }) => pendingRequests > 0),
  );
  await environments.request(key, "file.write", { root_id: "main", path: "new.txt", content: "new" });
  await changes.until((part) => JSON.stringify(part).includes("new.txt"));
  await environments.remove(environment.id);
  await expect(changes.done).rejects.toThrow();
});

test("disabling the relay of a workspace revokes its grants", async () => {
  const { relay } = client;
  expect(await relay.setEnabled("default", false)).toEqual({ workspace: "default", enabled: false });
  await until(
    async () => (await relay.devices.get("laptop")).connection === null,
    "the end of the connection",
  );
  await relay.setEnabled("default", true);
  const [grant] = await relay.grants.list();
  await relay.grants.remove(grant?.grant_id ?? "");
  expect(await relay.grants.list()).toEqual([]);
  expect(await relay.devices.pairings()).toEqual([]);
  await expect(relay.devices.pairing("AAAA-1111")).rejects.toMatchObject({ status: 404 });
  await relay.devices.stop("laptop");
  await relay.devices.remove("laptop");
  expect(await relay.devices.list()).toEqual([]);
});
