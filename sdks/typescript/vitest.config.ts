import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*/tests/**/*.test.ts"],
    // Real processes, on machines that have two cores.
    maxWorkers: 2,
    testTimeout: 60_000,
    // A busy machine may starve a process for longer than a test is patient; what fails twice is a fault.
    retry: 1,
  },
});
