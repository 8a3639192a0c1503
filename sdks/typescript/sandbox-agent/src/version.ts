/** The version of this package, which the client sends to agents. */
export const VERSION = "0.1.0";
