export { Daemon, type DaemonOptions } from "./daemon.js";
export { Device, Hub } from "./hub.js";
export { Model } from "./model.js";
export { Network } from "./network.js";
export { systemNode } from "./node.js";
export { KILL_ON_STDIN_CLOSE, Program, programFrom } from "./program.js";
export { Registry } from "./registry.js";
export { until } from "./wait.js";
