import type { components } from "../generated/relay.js";

/** Everything that is said on a relay connection (`ya-environment-relay.v1`), by its name in its JSON Schema. */
export type RelaySchemas = components["schemas"];
/** One message of a relay connection. */
export type RelayFrame = RelaySchemas["Frame"];
/** Asks something of the other side. */
export type RelayRequest = RelaySchemas["Request"];
/** What came of a request. */
export type RelayResponse = RelaySchemas["Response"];
/** A part of what a request gives, as it comes. */
export type RelayStreamFrame = RelaySchemas["StreamFrame"];
/** Something that is told without being asked. */
export type RelayEvent = RelaySchemas["Event"];
/** Why a request came to nothing. */
export type RelayError = RelaySchemas["RelayError"];
/** What a device offers. */
export type RelayCapabilities = RelaySchemas["DeviceCapabilities"];
/** What is made known about a tool. */
export type RelayToolDescriptor = RelaySchemas["ToolDescriptor"];
/** Every method with who may ask it, its params and its result. */
export type RelayMethods = RelaySchemas["Methods"];
/** The name of a method. */
export type RelayMethod = keyof RelayMethods;
/** What a method is asked with. */
export type RelayParams<Method extends RelayMethod> = RelayMethods[Method]["params"];
/** What a method gives. */
export type RelayResult<Method extends RelayMethod> = RelayMethods[Method]["result"];
