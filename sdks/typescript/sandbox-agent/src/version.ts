/** The version of this package, which agents are told. */
export const VERSION = "0.1.0";
