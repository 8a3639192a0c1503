export { Daemon, type DaemonOptions, LEASH } from "./daemon.js";
export { Network } from "./network.js";
export { until } from "./wait.js";
