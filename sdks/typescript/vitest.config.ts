import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*/tests/**/*.test.ts"],
    // Real processes, on machines that have two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
