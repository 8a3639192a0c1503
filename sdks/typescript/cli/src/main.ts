#!/usr/bin/env node
import { MissingProgramError, programPath } from "./program.js";
import { run } from "./run.js";

try {
  run(programPath(), process.argv.slice(2));
} catch (error) {
  if (!(error instanceof MissingProgramError)) throw error;
  console.error(`tombolo: ${error.message}`);
  process.exitCode = 1;
}
