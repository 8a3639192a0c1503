import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** The React that programs have which are not new. */
const EIGHTEEN = join(import.meta.dirname, "react-18/node_modules");

export default defineConfig({
  test: {
    // Real processes, on machines that have two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    // A busy machine may starve a process for longer than a test is patient; what fails twice is a fault.
    retry: 1,
    projects: [
      {
        extends: true,
        test: { name: "all", include: ["*/tests/**/*.test.ts"], provide: { react: "19" } },
      },
      {
        extends: true,
        test: { name: "react 18", include: ["react/tests/**/*.test.ts"], provide: { react: "18" } },
        resolve: { alias: { react: join(EIGHTEEN, "react"), "react-dom": join(EIGHTEEN, "react-dom") } },
      },
    ],
  },
});
