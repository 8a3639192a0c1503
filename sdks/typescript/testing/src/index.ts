export { Daemon, type DaemonOptions } from "./daemon.js";
export { Network } from "./network.js";
export { until } from "./wait.js";
