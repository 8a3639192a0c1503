import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { Site } from "./site.js";

/** Options for running without prompts, as root in a container. */
const FLAGS: readonly string[] = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** A real browser with a fresh profile and a page that loads the packages. Disposing closes it. */
export class Browser implements AsyncDisposable {
  readonly page: Page;
  readonly #site: Site;
  readonly #home: string;
  readonly #context: BrowserContext;

  private constructor(site: Site, home: string, context: BrowserContext, page: Page) {
    this.#site = site;
    this.#home = home;
    this.#context = context;
    this.page = page;
  }

  /** Starts the browser that `CHROMIUM_BIN` names, or the one of the system. */
  static async start(): Promise<Browser> {
    const home = await mkdtemp(join(tmpdir(), "chromium-"));
    const executablePath = process.env.CHROMIUM_BIN ?? "/usr/bin/chromium";
    const context = await chromium.launchPersistentContext(home, { executablePath, args: [...FLAGS] });
    const site = await Site.start();
    const page = await context.newPage();
    await page.goto(site.origin);
    return new Browser(site, home, context, page);
  }

  /** Origin of its page. */
  get origin(): string {
    return this.#site.origin;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
    await this.#site[Symbol.asyncDispose]();
    await rm(this.#home, { recursive: true, force: true });
  }
}
