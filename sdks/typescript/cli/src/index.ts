export { MissingProgramError, programPath } from "./program.js";
