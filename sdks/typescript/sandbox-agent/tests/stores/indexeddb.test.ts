import { daemonOf } from "tombolo-testing/vitest";
import { afterAll } from "vitest";
import { Browser } from "../browser/browser.js";
import { storeIn } from "../browser/store.js";
import { storeContract } from "./contract.js";

const browser = await Browser.start();
afterAll(() => browser[Symbol.asyncDispose]());

storeContract(() => storeIn(browser.page), daemonOf());
