// There is no browser here: this is the standard in JavaScript. A real one is for the tests of the web interface.
import "fake-indexeddb/auto";
import { IndexedDbStore } from "sandbox-agent/indexeddb";
import { daemonOf } from "tombolo-testing/vitest";
import { storeContract } from "./contract.js";

storeContract(() => new IndexedDbStore(), daemonOf());
