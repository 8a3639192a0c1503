import { MemoryStore } from "@tombolo/sandbox-agent";
import { daemonOf } from "tombolo-testing/vitest";
import { storeContract } from "./contract.js";

const store = new MemoryStore();
storeContract(() => store, daemonOf());
