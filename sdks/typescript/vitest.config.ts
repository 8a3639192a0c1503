import { join } from "node:path";
import { defineConfig } from "vitest/config";

/** An older version of React that the hooks support. */
const REACT_18 = join(import.meta.dirname, "react-18/node_modules");

export default defineConfig({
  test: {
    // The tests start real processes, and CI machines have two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    // A busy machine may delay a process beyond the time limit of a test. A test that fails twice has a real defect.
    retry: 1,
    projects: [
      {
        extends: true,
        test: { name: "all", include: ["*/tests/**/*.test.ts"], provide: { react: "19" } },
      },
      {
        extends: true,
        test: { name: "react 18", include: ["react/tests/**/*.test.ts"], provide: { react: "18" } },
        resolve: { alias: { react: join(REACT_18, "react"), "react-dom": join(REACT_18, "react-dom") } },
      },
    ],
  },
});
